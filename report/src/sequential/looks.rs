//! Looks at the paired outcomes of one suite and target, in the order in which they are bet on.

use super::betting::{Betting, Bounds};
use super::group_spending::Spending;

/// Probability that a run that is not worse is called regressed, in all suites together.
pub(crate) const REGRESSED: f64 = 0.045;
/// Probability that a run that is not within the margin is shown to be.
const WITHIN: f64 = 0.05;
/// About how many looks there are until the planned trials are used up.
const LOOKS: usize = 20;
/// Fewest cases, or clusters, between two looks.
const FEWEST: usize = 10;

/// How a suite and target is decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Design {
    /// How much worse the run may be, above 0, at most 1.
    pub(crate) margin: f64,
    /// Probability that a run that is not worse is called regressed.
    pub(crate) level: f64,
    /// Mean of the weights of the cases or clusters.
    pub(crate) mean_weight: f64,
    /// Mean of the squares of these weights.
    pub(crate) mean_square_weight: f64,
    /// The number of observations, if it is fixed; without, bets decide, and any number may follow.
    pub(crate) fixed: Option<usize>,
    /// Logarithms of the e-values of earlier runs of this agent with other trials of the base: for *regressed* and for *within the margin*.
    pub(crate) before: [f64; 2],
}

/// A case, or a cluster, in one round: how much its score in the run exceeds that in the base, at most and at least. They differ where
/// trials of the run ended in an error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Observation {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    /// Its share of the mean: its number of pairs divided by that of the largest cluster.
    pub(crate) weight: f64,
}

/// What follows from the looks so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Regressed,
    Within,
    Undecided,
}

/// The looks at a suite and target.
#[derive(Debug, Clone)]
pub(crate) struct Looks {
    design: Design,
    evidence: Evidence,
    count: usize,
    /// The first decision, which stays.
    verdict: Verdict,
}

/// Evidence that the run is worse, and that it is within the margin.
#[derive(Debug, Clone)]
enum Evidence {
    Bets([Betting; 2]),
    Sums([Sum; 2]),
}

#[derive(Debug, Clone)]
struct Sum {
    spending: Spending,
    sum: f64,
    squares: f64,
}

impl Looks {
    pub(crate) fn new(design: Design) -> Self {
        let Design { margin, level, mean_weight, mean_square_weight, before, .. } = design;
        let bets = |lowest, before| {
            Betting::new(Bounds { expected: margin * mean_weight, lowest, square_scale: mean_square_weight }, before)
        };
        let evidence = match design.fixed {
            None => Evidence::Bets([bets(1.0, before[0]), bets((1.0 - margin).max(f64::MIN_POSITIVE), before[1])]),
            Some(_) => Evidence::Sums([level, WITHIN].map(|level| Sum {
                spending: Spending::new(level),
                sum: 0.0,
                squares: 0.0,
            })),
        };
        let mut looks = Self { design, evidence, count: 0, verdict: Verdict::Undecided };
        looks.decide();
        looks
    }

    /// Adds the observations of a batch, and looks.
    pub(crate) fn look(&mut self, batch: &[Observation]) -> Verdict {
        for Observation { lower, upper, weight } in batch {
            // Each hypothesis has the benefit of the doubt.
            let worse = -upper * weight;
            let within = (lower + self.design.margin) * weight;
            match &mut self.evidence {
                Evidence::Bets(bets) => bets.iter_mut().zip([worse, within]).for_each(|(bet, y)| bet.add(y)),
                Evidence::Sums(sums) => sums.iter_mut().zip([worse, within]).for_each(|(sum, y)| sum.add(y)),
            }
        }
        self.count += batch.len();
        if !batch.is_empty() {
            self.decide();
        }
        self.verdict
    }

    /// Ends a round: all cases have been observed once more.
    pub(crate) fn end_round(&mut self) {
        if let Evidence::Bets(bets) = &mut self.evidence {
            bets.iter_mut().for_each(Betting::end_round);
        }
    }

    /// What follows from the looks so far.
    pub(crate) fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Logarithms of the e-values for *regressed* and for *within the margin*; `None` where the number of trials is fixed.
    pub(crate) fn log_e_values(&self) -> Option<[f64; 2]> {
        match &self.evidence {
            Evidence::Bets(bets) => Some([bets[0].log_capital(), bets[1].log_capital()]),
            Evidence::Sums(_) => None,
        }
    }

    fn decide(&mut self) {
        if self.verdict != Verdict::Undecided {
            return;
        }
        let is_shown = match &mut self.evidence {
            Evidence::Bets(bets) => {
                let levels = [self.design.level, WITHIN];
                [0, 1].map(|index| bets[index].log_capital() >= -levels[index].ln())
            }
            Evidence::Sums(sums) => {
                let all = self.design.fixed.unwrap_or_default().max(1);
                let fraction = (self.count as f64 / all as f64).min(1.0);
                let count = self.count as f64;
                let mut look = |index: usize| count > 0.0 && sums[index].is_beyond(count, fraction);
                [look(0), look(1)]
            }
        };
        self.verdict = match is_shown {
            [true, _] => Verdict::Regressed,
            [false, true] => Verdict::Within,
            [false, false] => Verdict::Undecided,
        };
    }
}

impl Sum {
    fn add(&mut self, observation: f64) {
        self.sum += observation;
        self.squares += observation * observation;
    }

    /// Whether the mean of `count` observations is beyond the boundary. One observation of 1 more keeps the variance from being 0 where all agree.
    fn is_beyond(&mut self, count: f64, fraction: f64) -> bool {
        let mean = self.sum / count;
        let variance = (self.squares + 1.0) / (count + 1.0) - mean * mean;
        let deviation = (variance.max(1.0 / count) / count).sqrt();
        mean / deviation >= self.spending.boundary(fraction)
    }
}

/// Number of batches of a round after each of which there is a look. `cases` of the round, in `units` cases or clusters; `planned` trials in all.
pub(crate) fn batches(cases: usize, units: usize, planned: usize) -> usize {
    (LOOKS * cases).div_ceil(planned.max(1)).clamp(1, (units / FEWEST).max(1))
}
