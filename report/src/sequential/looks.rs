//! Looks at the paired outcomes of one suite and target, in the order in which they are bet on.
//!
//! Evidence against a hypothesis about a mean, by betting: no crate does this for batches of cases that differ.
//!
//! Boundaries for looks at a number of trials that is fixed: the error that O'Brien and Fleming's spending function allows at each look
//! (Lan & DeMets 1983). No crate has them: they take a numerical integration of a few lines.

use evalsuite_statistics::normal_at_most;

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
    observed: Observed,
}

/// Observations of a hypothesis whose mean is at most 0 if it is true.
#[derive(Debug, Clone, Copy)]
pub(super) struct Observed {
    /// The smallest observation is at least minus this.
    lowest: f64,
    /// Whether an observation is as likely to be positive as negative if the hypothesis is just true: if nothing has changed.
    is_symmetric: bool,
    count: f64,
    sum: f64,
    squares: f64,
    /// Sum of the absolute values.
    sizes: f64,
}

impl Looks {
    pub(crate) fn new(design: Design) -> Self {
        let Design { margin, level, mean_weight, mean_square_weight, before, .. } = design;
        let bets = |lowest, before| {
            Betting::new(Bounds { expected: margin * mean_weight, lowest, square_scale: mean_square_weight }, before)
        };
        let sum = |observed, level| Sum { spending: Spending::new(level), observed };
        let lowest = [1.0, (1.0 - margin).max(f64::MIN_POSITIVE)];
        let evidence = match design.fixed {
            None => Evidence::Bets([bets(lowest[0], before[0]), bets(lowest[1], before[1])]),
            Some(_) => Evidence::Sums([sum(Observed::worse(), level), sum(Observed::within(margin), WITHIN)]),
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
                Evidence::Sums(sums) => sums.iter_mut().zip([worse, within]).for_each(|(sum, y)| sum.observed.add(y)),
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
                let mut look = |Sum { spending, observed }: &mut Sum| {
                    observed.count > 0.0 && observed.is_beyond(spending.boundary(fraction))
                };
                sums.each_mut().map(&mut look)
            }
        };
        self.verdict = match is_shown {
            [true, _] => Verdict::Regressed,
            [false, true] => Verdict::Within,
            [false, false] => Verdict::Undecided,
        };
    }
}

impl Observed {
    /// Of the hypothesis that the run is not worse.
    pub(super) fn worse() -> Self {
        Self { lowest: 1.0, is_symmetric: true, count: 0.0, sum: 0.0, squares: 0.0, sizes: 0.0 }
    }

    /// Of the hypothesis that the run is worse by the margin or more.
    pub(super) fn within(margin: f64) -> Self {
        Self { lowest: (1.0 - margin).max(f64::MIN_POSITIVE), is_symmetric: false, ..Self::worse() }
    }

    pub(super) fn add(&mut self, observation: f64) {
        self.count += 1.0;
        self.sum += observation;
        self.squares += observation * observation;
        self.sizes += observation.abs();
    }

    /// Whether the sum is above what chance explains. `boundary`: how many standard deviations above 0 a normal sum would have to be.
    ///
    /// Sums of few observations are not normal: as long as no case failed that seldom fails, all observations agree, and do not show how much
    /// they vary. The limit is that of a Poisson number of observations with the lowest value, by Wilson and Hilferty's approximation (1931):
    /// for a boundary z, one more of them is in the variance, and (z² + 2) / 3 are in the sum.
    ///
    /// Symmetric observations need less. None varies more than a whole loss or gain that is as frequent as the observation is large, and the sum
    /// of these moves in steps of two, half of which is the correction for continuity. Of scores of 0 and 1, this is a sign test: at 4.5 %, five
    /// losses show something if there are no gains.
    pub(super) fn is_beyond(&self, boundary: f64) -> bool {
        let Self { lowest, is_symmetric, count, sum, squares, sizes } = *self;
        let variance = if is_symmetric { squares } else { squares - sum * sum / count };
        let skewed =
            lowest * (boundary * boundary + 2.0) / 3.0 + boundary * (variance.max(0.0) + lowest * lowest).sqrt();
        let limit = if is_symmetric { skewed.min(1.0 + boundary * sizes.sqrt()) } else { skewed };
        sum >= limit
    }
}

/// Number of batches of a round after each of which there is a look. `cases` of the round, in `units` cases or clusters; `planned` trials in all.
pub(crate) fn batches(cases: usize, units: usize, planned: usize) -> usize {
    (LOOKS * cases).div_ceil(planned.max(1)).clamp(1, (units / FEWEST).max(1))
}

/// What the observations are about: how they are scaled, and which mean the bets expect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    /// The mean, above 0, that the bets expect.
    pub(super) expected: f64,
    /// The smallest observation is at least minus this.
    pub(super) lowest: f64,
    /// Mean square of the weights of the observations, at most 1.
    pub(super) square_scale: f64,
}

/// Second moments of outcomes that differ rarely, sometimes and often. The first bets are on all three.
const FIRST_SQUARES: [f64; 3] = [0.2, 0.3, 0.45];
/// What later bets expect before they have seen anything, and how many observations this counts for.
const PRIOR: (f64, f64) = (0.25, 40.0);
/// Largest share of the capital that an observation may take.
pub(super) const MOST: f64 = 0.9;

/// Capital of a player who bets that a mean is above 0: an e-process against "the mean is at most 0".
///
/// An observation y multiplies the capital of a bet λ by 1 + λy. If the means of independent observations are at most 0 *on average*, the
/// product of a round has an expectation of at most 1, because λ is the same for the whole round: ∏(1 + λμᵢ) ≤ (1 + λμ̄)ⁿ. By Ville's
/// inequality, the capital of such a player ever reaches 1/α with a probability of at most α, whenever one stops. λ follows from
/// earlier rounds only; in the first one, the capital is spread over three bets. Source: Waudby-Smith & Ramdas (2024), *Estimating means
/// of bounded random variables by betting*, JRSS-B 86(1).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Betting {
    bounds: Bounds,
    /// Bets, and the logarithms of their shares of the capital.
    bets: [(f64, f64); FIRST_SQUARES.len()],
    count: f64,
    squares: f64,
}

impl Betting {
    /// `before`: logarithm of the capital to start with.
    pub(super) fn new(bounds: Bounds, before: f64) -> Self {
        let bet = |square| (bounds.bet(square * bounds.square_scale), before);
        Self { bounds, bets: FIRST_SQUARES.map(bet), count: 0.0, squares: 0.0 }
    }

    /// Adds an observation of the current round.
    pub(super) fn add(&mut self, observation: f64) {
        self.bets.iter_mut().for_each(|(bet, log)| *log += (*bet * observation).ln_1p());
        self.count += 1.0;
        self.squares += observation * observation;
    }

    /// Chooses the bets of the next round.
    pub(super) fn end_round(&mut self) {
        let (square, weight) = PRIOR;
        let square = (weight * square * self.bounds.square_scale + self.squares) / (weight + self.count);
        let next = self.bounds.bet(square);
        self.bets.iter_mut().for_each(|(bet, _)| *bet = next);
    }

    /// Logarithm of the capital: of the e-value.
    pub(super) fn log_capital(&self) -> f64 {
        let largest = self.bets.iter().map(|(_, log)| *log).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = self.bets.iter().map(|(_, log)| (log - largest).exp()).sum();
        largest + (sum / self.bets.len() as f64).ln()
    }
}

impl Bounds {
    /// The bet that grows fastest if the observations have the expected mean and this second moment.
    fn bet(self, square: f64) -> f64 {
        (self.expected / square.max(self.expected * self.expected)).min(MOST / self.lowest)
    }
}

/// Points of the grid on which the density of the paths that have not crossed is kept.
const POINTS: usize = 120;
/// So many standard deviations below 0, the density ends.
const LOWEST: f64 = 7.0;

/// Looks at a Brownian motion that starts at 0: after each, the smallest standardised value that is called a change.
#[derive(Debug, Clone)]
pub(super) struct Spending {
    level: f64,
    spent: f64,
    /// Share of all information at the last look.
    fraction: f64,
    /// Values of the motion and the density of the paths there that have not crossed. Empty before the first look.
    density: Vec<(f64, f64)>,
}

impl Spending {
    /// `level`: probability to cross at any look if nothing changed.
    pub(super) fn new(level: f64) -> Self {
        Self { level, spent: 0.0, fraction: 0.0, density: Vec::new() }
    }

    /// The boundary of a look at this share of all observations, which is larger than that of the look before, at most 1.
    pub(super) fn boundary(&mut self, fraction: f64) -> f64 {
        let allowed = 2.0 * upper_tail(quantile(self.level / 2.0) / fraction.sqrt());
        let share = (allowed - self.spent).max(f64::MIN_POSITIVE);
        let step = (fraction - self.fraction).sqrt();
        let crossed = |value: f64| match self.density.as_slice() {
            [] => upper_tail(value / step),
            density => integral(density, |from| upper_tail((value - from) / step)),
        };
        let value = bisect(0.0, 40.0, |value| crossed(value) > share);
        let lowest = -LOWEST * fraction.sqrt();
        let point = |index: usize| lowest + (value - lowest) * index as f64 / (POINTS - 1) as f64;
        let normal =
            |distance: f64| (-0.5 * (distance / step).powi(2)).exp() / (step * (2.0 * std::f64::consts::PI).sqrt());
        let at = |to: f64| match self.density.as_slice() {
            [] => normal(to),
            density => integral(density, |from| normal(to - from)),
        };
        let density = (0..POINTS).map(|index| (point(index), at(point(index)))).collect();
        (self.spent, self.fraction, self.density) = (allowed, fraction, density);
        value / fraction.sqrt()
    }
}

/// The integral of a function over the density, by trapezoids.
fn integral(density: &[(f64, f64)], of: impl Fn(f64) -> f64) -> f64 {
    let [(first, _), (second, _), ..] = density else { return 0.0 };
    let ends = [0, density.len() - 1];
    let value = |(index, (from, weight)): (usize, &(f64, f64))| {
        let part = if ends.contains(&index) { 0.5 } else { 1.0 };
        part * weight * of(*from)
    };
    density.iter().enumerate().map(value).sum::<f64>() * (second - first)
}

/// Probability that a standard normal number is larger.
fn upper_tail(value: f64) -> f64 {
    normal_at_most(-value)
}

/// The number that a standard normal number exceeds with this probability, at most one half.
fn quantile(tail: f64) -> f64 {
    bisect(0.0, 40.0, |value| upper_tail(value) > tail)
}

/// Where a condition that holds at `low` stops to hold.
fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if holds(middle) { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_are_those_of_the_tables() {
        // Five equal looks, one-sided 0.025: Lan & DeMets, computed with `gsDesign::sfLDOF`.
        let mut spending = Spending::new(0.025);
        let found: Vec<f64> = (1..=5).map(|look| spending.boundary(f64::from(look) / 5.0)).collect();
        for (found, expected) in found.iter().zip([4.877, 3.357, 2.680, 2.290, 2.031]) {
            assert!((found - expected).abs() < 0.01, "{found} is not {expected}");
        }
        let one = Spending::new(0.05).boundary(1.0);
        assert!((one - 1.645).abs() < 0.001, "one look is the usual test, found {one}");
    }
}
