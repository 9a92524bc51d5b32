//! The permutation test of two runs: observations that could be of either run, if nothing has changed, are exchanged.

use fastrand::Rng;

use crate::distributions::normal_at_most;
use crate::mean;
use crate::rates::log_choose;

const SEED: u64 = 0x5eed_f11b;
/// Most random exchanges.
const MOST_DRAWS: usize = 50_000;
/// Fewest random exchanges, however many units there are.
const FEWEST_DRAWS: usize = 5_000;
/// Units that are exchanged in all draws together, above which there are fewer draws.
const WORK: usize = 10_000_000;
/// Units above which the sums of all exchanges are taken to be normal: they are sums of as many independent numbers.
const MANY: usize = 1_000;
/// Random exchanges for the spread of so many units, which need not be known as precisely.
const SPREAD_DRAWS: usize = 500;

/// What can be exchanged between two runs by itself.
#[derive(Debug, Clone, PartialEq)]
pub enum Unit {
    /// The scores of a case in both runs. Each of them could be of either run.
    Scores {
        /// Scores in the base, then those in the run.
        pooled: Vec<f64>,
        /// Number of scores in the run.
        in_run: usize,
        /// The sums that the difference of the means is part of.
        sums: Vec<usize>,
        /// Whether the case counts in each of the two [spreads](Exchanged::spread).
        in_spread: [bool; 2],
    },
    /// Differences of cases that belong together: only all of them at once can have the other sign.
    Cluster {
        /// The sums that the differences are part of, and their parts.
        parts: Vec<(usize, f64)>,
    },
}

/// A permutation test of a sum of differences: where it lies among the sums of all exchanges.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ExchangeTest {
    /// Probability of a sum that is at most as large, if nothing has changed, 0 to 1.
    pub at_most: f64,
    /// Probability of a sum that is at least as large.
    pub at_least: f64,
    /// Standard deviation of the sums.
    pub deviation: f64,
}

/// The smallest p-value that a sum of such observations can have.
pub fn smallest_p_value(units: &[Unit], sum: usize) -> f64 {
    let varying = units.iter().filter(|unit| unit.varies() && unit.sums().contains(&sum));
    varying.map(|unit| unit.smallest(sum)).product()
}

/// A sum of differences in standard deviations of the sums of all exchanges; 0 where nothing varies.
pub fn standardised_sum(units: &[Unit], sum: usize) -> f64 {
    let mut observed = Drawn::new(sum + 1);
    units.iter().for_each(|unit| unit.add_observed(&mut observed));
    let varying = units.iter().filter(|unit| unit.varies());
    let variance: f64 = varying.map(|unit| unit.variance(sum)).sum();
    if variance > 0.0 { observed.sums[sum] / variance.sqrt() } else { 0.0 }
}

/// What the exchanges of units say.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchanged {
    /// The test of each sum of differences.
    pub tests: Vec<ExchangeTest>,
    /// For each of two sets of cases, the probability that exchanges move their scores by as much as they differ between the runs: that the
    /// sum of squared differences is at least as large. If it is small, the trials of a case within one run resemble each other, or
    /// cases have changed in different ways. 1 without cases that have more than one trial in a run.
    pub spread: [f64; 2],
}

/// For each of `count` sums of differences, a test by random exchanges, with a fixed seed.
///
/// This asks whether *these* cases come out otherwise than before, not whether other cases would. It needs no assumption about rates,
/// spreads or numbers of trials: only that the trials of a case are as likely to have come out in one order as in another.
pub fn exchange_tests(units: &[Unit], count: usize) -> Exchanged {
    let varying: Vec<&Unit> = units.iter().filter(|unit| unit.varies()).collect();
    let mut tests = vec![ExchangeTest::default(); count];
    let mut observed = Drawn::new(count);
    let mut scale = 0.0;
    for unit in &varying {
        unit.add_observed(&mut observed);
        scale += unit.largest();
        for sum in unit.sums() {
            tests[sum].deviation += unit.variance(sum);
        }
    }
    tests.iter_mut().for_each(|test| test.deviation = test.deviation.sqrt());
    let is_many = varying.len() > MANY;
    let has_spread = observed.squares.iter().any(|square| *square > 0.0);
    let draws = match varying.len() {
        0 => 0,
        _ if is_many && !has_spread => 0,
        _ if is_many => SPREAD_DRAWS,
        count => (WORK / count).clamp(FEWEST_DRAWS, MOST_DRAWS),
    };
    // Sums of the same numbers in another order differ by rounding.
    let slack = 1e-12 * scale + 1e-12;
    let mut random = Rng::with_seed(SEED);
    let mut counts = vec![(0_usize, 0_usize); count];
    let mut as_spread = [0_usize; 2];
    let mut exchanges: Vec<Exchange<'_>> = varying.into_iter().map(Exchange::new).collect();
    let mut drawn = Drawn::new(count);
    for _ in 0..draws {
        drawn.clear();
        exchanges.iter_mut().for_each(|exchange| exchange.add_drawn(&mut random, &mut drawn));
        for ((at_most, at_least), (drawn, observed)) in counts.iter_mut().zip(drawn.sums.iter().zip(&observed.sums)) {
            *at_most += usize::from(*drawn <= observed + slack);
            *at_least += usize::from(*drawn >= observed - slack);
        }
        for (count, (drawn, observed)) in as_spread.iter_mut().zip(drawn.squares.iter().zip(observed.squares)) {
            *count += usize::from(*drawn >= observed - slack);
        }
    }
    // What was observed is one of the exchanges, so the probability is never 0.
    let share = |count: usize| (count + 1) as f64 / (draws + 1) as f64;
    for (test, (sum, (at_most, at_least))) in tests.iter_mut().zip(observed.sums.iter().zip(counts)) {
        let standardised = if test.deviation > 0.0 { sum / test.deviation } else { 0.0 };
        (test.at_most, test.at_least) = match is_many {
            true => (normal_at_most(standardised), normal_at_most(-standardised)),
            false => (share(at_most), share(at_least)),
        };
    }
    if is_many {
        // The sum of few of them is not normal.
        for (sum, test) in tests.iter_mut().enumerate() {
            let of_sum = || units.iter().filter(|unit| unit.varies() && unit.sums().contains(&sum));
            if (1..=MANY).contains(&of_sum().count()) {
                *test = exchange_tests(&of_sum().cloned().collect::<Vec<Unit>>(), count).tests[sum];
            }
        }
    }
    Exchanged { tests, spread: as_spread.map(share) }
}

/// Sums over the units of what an exchange gives.
struct Drawn {
    /// Sums of differences.
    sums: Vec<f64>,
    /// Sums of squared differences.
    squares: [f64; 2],
}

impl Drawn {
    fn new(count: usize) -> Self {
        Self { sums: vec![0.0; count], squares: [0.0; 2] }
    }

    fn clear(&mut self) {
        self.sums.fill(0.0);
        self.squares = [0.0; 2];
    }

    fn add_case(&mut self, difference: f64, sums: &[usize], in_spread: [bool; 2]) {
        sums.iter().for_each(|sum| self.sums[*sum] += difference);
        for (square, is_in) in self.squares.iter_mut().zip(in_spread) {
            *square += if is_in { difference * difference } else { 0.0 };
        }
    }
}

/// A unit that is exchanged thousands of times.
enum Exchange<'a> {
    Scores {
        pooled: Vec<f64>,
        /// Number of scores in that run which has fewer. Their sum gives the difference: `factor * sum - rest`.
        few: usize,
        factor: f64,
        rest: f64,
        sums: &'a [usize],
        in_spread: [bool; 2],
    },
    Cluster(&'a [(usize, f64)]),
}

impl<'a> Exchange<'a> {
    fn new(unit: &'a Unit) -> Self {
        match unit {
            Unit::Scores { pooled, in_run, sums, in_spread } => {
                let few = (*in_run).min(pooled.len() - in_run);
                let others = (pooled.len() - few) as f64;
                let sign = if few == *in_run { 1.0 } else { -1.0 };
                let (factor, rest) = (1.0 / few as f64 + 1.0 / others, pooled.iter().sum::<f64>() / others);
                let (factor, rest) = (sign * factor, sign * rest);
                Self::Scores { pooled: pooled.clone(), few, factor, rest, sums, in_spread: *in_spread }
            }
            Unit::Cluster { parts } => Self::Cluster(parts),
        }
    }

    fn add_drawn(&mut self, random: &mut Rng, drawn: &mut Drawn) {
        match self {
            Self::Scores { pooled, few, factor, rest, sums, in_spread } => {
                let mut sum = 0.0;
                for index in 0..*few {
                    let chosen = random.usize(index..pooled.len());
                    pooled.swap(index, chosen);
                    sum += pooled[index];
                }
                drawn.add_case(*factor * sum - *rest, sums, *in_spread);
            }
            Self::Cluster(parts) => {
                let sign = if random.bool() { 1.0 } else { -1.0 };
                parts.iter().for_each(|(sum, part)| drawn.sums[*sum] += sign * part);
            }
        }
    }
}

impl Unit {
    /// The scores of a case in base and run, at least one of each.
    pub fn scores(base: &[f64], run: &[f64], sums: Vec<usize>) -> Self {
        // Of single trials, one exchange has the same square as another.
        let in_spread = [base.len() + run.len() > 2; 2];
        Self::Scores { pooled: [base, run].concat(), in_run: run.len(), sums, in_spread }
    }

    /// Leaves a case out of one of the spreads.
    pub fn leave_out_of_spread(&mut self, index: usize) {
        if let Self::Scores { in_spread, .. } = self {
            in_spread[index] = false;
        }
    }

    /// Whether its exchange changes something.
    fn varies(&self) -> bool {
        match self {
            Self::Scores { pooled, .. } => pooled.iter().any(|score| (score - pooled[0]).abs() > 1e-12),
            Self::Cluster { parts } => parts.iter().any(|(_, part)| part.abs() > 1e-12),
        }
    }

    fn sums(&self) -> Vec<usize> {
        match self {
            Self::Scores { sums, .. } => sums.clone(),
            Self::Cluster { parts } => {
                let mut sums: Vec<usize> = parts.iter().map(|(sum, _)| *sum).collect();
                sums.sort_unstable();
                sums.dedup();
                sums
            }
        }
    }

    /// The part of a cluster in a sum.
    fn part(parts: &[(usize, f64)], sum: usize) -> f64 {
        parts.iter().filter(|(of, _)| *of == sum).map(|(_, part)| part).sum()
    }

    fn largest(&self) -> f64 {
        match self {
            Self::Scores { .. } => 1.0,
            Self::Cluster { parts } => parts.iter().map(|(_, part)| part.abs()).sum(),
        }
    }

    fn add_observed(&self, observed: &mut Drawn) {
        match self {
            Self::Scores { pooled, in_run, sums, in_spread } => {
                let (base, run) = pooled.split_at(pooled.len() - in_run);
                observed.add_case(mean(run) - mean(base), sums, *in_spread);
            }
            Self::Cluster { parts } => parts.iter().for_each(|(sum, part)| observed.sums[*sum] += part),
        }
    }

    /// Variance of its difference among all exchanges.
    fn variance(&self, sum: usize) -> f64 {
        match self {
            Self::Scores { pooled, in_run, .. } => {
                let center = mean(pooled);
                let squares: f64 = pooled.iter().map(|score| (score - center).powi(2)).sum();
                let (all, run) = (pooled.len() as f64, *in_run as f64);
                squares / (all - 1.0) * (1.0 / run + 1.0 / (all - run))
            }
            Self::Cluster { parts } => Self::part(parts, sum).powi(2),
        }
    }

    /// Probability that an exchange gives the run the lowest scores that it can have.
    fn smallest(&self, sum: usize) -> f64 {
        match self {
            Self::Scores { pooled, in_run, .. } => {
                let mut sorted = pooled.clone();
                sorted.sort_unstable_by(f64::total_cmp);
                let last = sorted[in_run - 1];
                let equal = sorted.iter().filter(|score| (*score - last).abs() <= 1e-12).count();
                let lower = sorted.iter().filter(|score| **score < last - 1e-12).count();
                (log_choose(equal, in_run - lower) - log_choose(sorted.len(), *in_run)).exp()
            }
            Self::Cluster { parts } if Self::part(parts, sum) == 0.0 => 1.0,
            Self::Cluster { .. } => 0.5,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trials(base: &[f64], run: &[f64]) -> Unit {
        Unit::scores(base, run, vec![0])
    }

    fn is_near(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 0.006
    }

    #[test]
    fn a_case_that_broke_among_stable_ones_is_as_unlikely_as_its_order() {
        let stable = (0..99).map(|_| trials(&[1.0; 5], &[1.0; 5]));
        let units: Vec<Unit> = stable.chain([trials(&[1.0; 5], &[0.0; 5])]).collect();
        let test = exchange_tests(&units, 1).tests[0];
        assert!(is_near(test.at_most, 1.0 / 252.0) && test.at_least == 1.0, "{test:?}");
        assert!((smallest_p_value(&units, 0) - 1.0 / 252.0).abs() < 1e-9, "{test:?}");
    }

    #[test]
    fn of_single_trials_it_is_the_exact_test_of_mcnemar() {
        for (worse, better, p) in [(5, 0, 0.031), (6, 0, 0.016), (7, 1, 0.035), (9, 2, 0.033)] {
            let worse = (0..worse).map(|_| trials(&[1.0], &[0.0]));
            let units: Vec<Unit> = worse.chain((0..better).map(|_| trials(&[0.0], &[1.0]))).collect();
            let test = exchange_tests(&units, 1).tests[0];
            assert!(is_near(test.at_most, p), "{test:?}, one side of McNemar's is {p}");
            assert!(smallest_p_value(&units, 0) <= test.at_most + 0.006);
        }
    }

    #[test]
    fn cases_of_a_cluster_change_sides_together() {
        let apart: Vec<Unit> = (0..12).map(|_| Unit::Cluster { parts: vec![(0, -1.0)] }).collect();
        let together: Vec<Unit> = (0..3).map(|_| Unit::Cluster { parts: vec![(0, -1.0); 4] }).collect();
        assert!(exchange_tests(&apart, 1).tests[0].at_most < 0.002);
        let test = exchange_tests(&together, 1).tests[0];
        assert!(is_near(test.at_most, 0.125) && (smallest_p_value(&together, 0) - 0.125).abs() < 1e-9, "{test:?}");
        assert!((test.deviation - 48_f64.sqrt()).abs() < 1e-9, "{test:?}");
    }

    #[test]
    fn each_sum_has_its_own_test_and_equal_runs_differ_in_none() {
        let unit = |run: &[f64], sums: &[usize]| Unit::scores(&[1.0; 4], run, sums.to_vec());
        let units = [unit(&[0.0; 4], &[0, 1]), unit(&[1.0; 4], &[0, 2])];
        let found = exchange_tests(&units, 3).tests;
        assert!(
            is_near(found[1].at_most, 1.0 / 70.0)
                && found[2] == ExchangeTest { at_most: 1.0, at_least: 1.0, deviation: 0.0 }
        );
        assert_eq!(exchange_tests(&[], 1).tests[0].at_most, 1.0);
    }

    #[test]
    fn the_spread_tells_trials_that_come_out_alike_from_independent_ones() {
        let spread = |units: &[Unit]| exchange_tests(units, 1).spread[0];
        let [worse, better] = [trials(&[1.0; 3], &[0.0; 3]), trials(&[0.0; 3], &[1.0; 3])];
        // Of 20 orders, two have as large a square.
        assert!(
            is_near(spread(std::slice::from_ref(&better)), 0.1)
                && is_near(spread(&[worse.clone(), better.clone()]), 0.01)
        );
        let mixed = trials(&[1.0, 0.0, 1.0], &[1.0, 1.0, 0.0]);
        assert!(is_near(spread(&vec![mixed; 20]), 1.0), "equal means are no evidence");
        let single: Vec<Unit> = (0..20).map(|_| trials(&[1.0], &[0.0])).collect();
        assert_eq!((spread(&single), spread(&[])), (1.0, 1.0), "single trials say nothing");
        let mut left_out = worse;
        left_out.leave_out_of_spread(0);
        let found = exchange_tests(&[left_out], 1).spread;
        assert!(found[0] == 1.0 && is_near(found[1], 0.1), "{found:?}");
        let many: Vec<Unit> = (0..2_000).map(|index| trials(&[1.0; 3], &[f64::from(index % 2); 3])).collect();
        assert!(spread(&many) < 0.01);
    }

    #[test]
    fn of_many_cases_the_normal_distribution_says_the_same() {
        let unit = |worse: bool| if worse { trials(&[1.0], &[0.0]) } else { trials(&[0.0], &[1.0]) };
        let of = |count: usize, worse: usize| {
            exchange_tests(&(0..count).map(|it| unit(it < worse)).collect::<Vec<_>>(), 1).tests[0]
        };
        // Of 1,000 cases, 530 became worse: drawn; of 1,001, 530.5 would be as far from the half: z = 1.897 in both.
        let (drawn, normal) = (of(1_000, 530), of(1_001, 531));
        assert!((drawn.at_most - normal.at_most).abs() < 0.01, "{drawn:?} {normal:?}");
        assert!((normal_at_most(-1.959_964) - 0.025).abs() < 1e-6 && (normal_at_most(0.0) - 0.5).abs() < 1e-12);
    }

    /// It was that of the normal distribution, 0.0023.
    #[test]
    fn few_of_many_cases_have_an_exact_test() {
        let unit = |index: usize| Unit::scores(&[1.0], &[0.0], if index < 8 { vec![0, 1] } else { vec![0] });
        let units: Vec<Unit> = (0..1_100).map(unit).collect();
        let test = exchange_tests(&units, 2).tests[1];
        assert!((test.at_most - 1.0 / 256.0).abs() < 0.001, "{test:?}");
    }

    #[test]
    fn numbers_of_trials_may_differ() {
        // One of six trials could be the one that passed: the first is as likely as any other.
        let units = [trials(&[1.0], &[0.0; 5])];
        let test = exchange_tests(&units, 1).tests[0];
        assert!(is_near(test.at_most, 1.0 / 6.0) && (smallest_p_value(&units, 0) - 1.0 / 6.0).abs() < 1e-9, "{test:?}");
    }
}
