//! How badly a case comes out by chance alone, where nothing has changed.

use std::collections::BTreeMap;

use crate::record::{BaselineCase, Rule};
use crate::statistics::{binomial_at_least, binomial_at_most};

/// Share of the runs of an agent that has not changed in which the test of any case of a suite may say that it passes no more.
pub const LARGEST_CHANCE: f64 = 0.015;
/// Largest probability that so many cases of a suite fail which have passed.
const LARGEST_OF_SUITE: f64 = 0.0025;
/// Largest probability of two results of a case that are taken to be of different rates of passing.
const CHANCE_OF_CHANGE: f64 = 0.02;
/// Fewest passed trials that show that a case passes more often: one that seldom passes does so at some time.
const FEWEST_PASSED: u32 = 3;
/// Largest probability that one case comes out so, if its rate of passing is the one that makes it most likely.
const LARGEST_OF_CASE: f64 = 0.05;
/// How strongly the cases of a suite may resemble each other: a + b of the beta distribution of their rates.
pub const RESEMBLANCES: [f64; 12] = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0];
/// Difference of the logarithms of two likelihoods up to which the data do not tell which one is right.
pub const AS_LIKELY: f64 = 2.0;
/// Difference of such logarithms that rounding makes.
const ROUNDING: f64 = 1e-6;
/// Rates of passing that are tried where one case is looked at.
const RATES: u32 = 100;

/// Trials that passed, and all that passed or failed.
pub type Counts = (u32, u32);

/// The parameters of the beta distribution that rates of passing have.
pub type Beta = [f64; 2];

/// A suite whose agent has not changed, as far as its baseline tells: how often its cases pass.
///
/// The rates of its cases are taken to be of one beta distribution; a case's own trials then tell where in it the case is (beta-binomial).
/// How much the rates resemble each other often cannot be told, and not at all from one trial per case: of all distributions that are
/// about as likely, the one counts that makes a bad result most probable.
#[derive(Debug, Clone, PartialEq)]
pub struct UnchangedSuite {
    /// The most likely distribution of the rates; of equally likely ones, that with the most alike rates.
    best: Beta,
    /// All that are about as likely.
    plausible: Vec<Beta>,
    /// Cases that have passed, and whose tests can therefore say that they do not any more, by their trials.
    at_risk: BTreeMap<Counts, u32>,
}

impl UnchangedSuite {
    /// The suite with these accepted results.
    pub fn new(lines: &[BaselineCase]) -> Self {
        let found = likelihoods(lines);
        let best = found.iter().map(|(_, likelihood)| *likelihood).fold(f64::NEG_INFINITY, f64::max);
        let within = |difference: f64| {
            let near = found.iter().filter(move |(_, likelihood)| *likelihood >= best - difference);
            near.map(|(beta, _)| *beta)
        };
        let at_risk = alike(lines.iter().filter(|line| line.passed > 0));
        let [first, ..] = found;
        Self { best: within(ROUNDING).next_back().unwrap_or(first.0), plausible: within(AS_LIKELY).collect(), at_risk }
    }

    /// The most likely distribution of the rates of its cases.
    pub fn rates(&self) -> Beta {
        self.best
    }

    /// Expected number of cases that come out as badly as this one in a run in which nothing has changed; a probability where it is small.
    pub fn chance(&self, accepted: Counts, run: Counts) -> f64 {
        let of = |beta: &Beta| at_most(posterior(*beta, accepted), run);
        f64::from(self.cases_at_risk().max(1)) * self.plausible.iter().map(of).fold(0.0, f64::max)
    }

    fn cases_at_risk(&self) -> u32 {
        self.at_risk.values().sum()
    }

    /// Whether a case is worse than in its baseline: its result is improbable among all cases of the suite, and by itself.
    pub fn is_worse(&self, accepted: Counts, run: Counts) -> bool {
        self.chance(accepted, run) <= LARGEST_CHANCE && chance_of_fall(accepted, run) <= LARGEST_OF_CASE
    }

    /// Whether a case passes less often than before, as its test says or by its own trials.
    pub fn has_fallen(&self, before: Counts, now: Counts) -> bool {
        self.is_worse(before, now) || chance_of_fall(before, now) <= CHANCE_OF_CHANGE
    }

    /// Number of cases that have passed and fail now which chance does not explain any more, however few trials each of them has: the suite is
    /// worse than its baseline, though of no single case can it be told. `planned`: trials of a case; `rule`: how they decide it.
    ///
    /// The probability of as many is bounded by Hoeffding's inequality (1963, theorem 1), which needs only the mean of the cases' own
    /// probabilities to fail.
    pub fn too_many_failures(&self, planned: u32, rule: Rule) -> u32 {
        let cases = self.cases_at_risk();
        let fails = |beta: &Beta, accepted: Counts| {
            let [a, b] = posterior(*beta, accepted);
            match rule {
                Rule::Any => at_most([a, b], (0, planned)),
                Rule::Every | Rule::Mean | Rule::ConfidenceInterval => 1.0 - at_most([b, a], (0, planned)),
            }
        };
        let expected = |beta: &Beta| -> f64 {
            self.at_risk.iter().map(|(accepted, count)| f64::from(*count) * fails(beta, *accepted)).sum()
        };
        let expected = self.plausible.iter().map(expected).fold(0.0, f64::max);
        let is_improbable = |failed: &u32| {
            f64::from(*failed) > expected && tail(f64::from(*failed), f64::from(cases), expected) <= LARGEST_OF_SUITE
        };
        (1..=cases).find(is_improbable).unwrap_or(u32::MAX)
    }

    /// With how many failed trials a case is worse than in its baseline, at least `failed` and at most `most`; `None` if more are needed.
    pub fn failures_needed(&self, accepted: Counts, failed: u32, most: u32) -> Option<u32> {
        (failed.max(1)..=most).find(|trials| self.is_worse(accepted, (0, *trials)))
    }
}

/// The distributions of rates that are tried for a suite, each with the logarithm of its likelihood, up to a constant.
fn likelihoods(lines: &[BaselineCase]) -> [(Beta, f64); RESEMBLANCES.len()] {
    let alike = alike(lines);
    let sum = |of: fn(&BaselineCase) -> u32| lines.iter().map(|line| f64::from(of(line))).sum::<f64>();
    let mean = (sum(|line| line.passed) + 0.5) / (sum(|line| line.trials) + 1.0);
    let of = |resemblance: f64| {
        let beta = [mean * resemblance, (1.0 - mean) * resemblance];
        let lines = alike.iter().map(|(counts, lines)| f64::from(*lines) * log_likelihood(beta, *counts));
        (beta, lines.sum())
    };
    RESEMBLANCES.map(of)
}

/// Number of cases by their trials.
pub fn alike<'a>(lines: impl IntoIterator<Item = &'a BaselineCase>) -> BTreeMap<Counts, u32> {
    let mut alike = BTreeMap::new();
    lines.into_iter().for_each(|line| *alike.entry((line.passed, line.trials)).or_default() += 1);
    alike
}

/// Hoeffding's bound of the probability that so many of so many cases fail, if so many are expected to.
fn tail(failed: f64, cases: f64, expected: f64) -> f64 {
    let part = |share: f64, expected: f64| if share > 0.0 { share * (share / expected).ln() } else { 0.0 };
    let (share, expected) = (failed / cases, expected / cases);
    f64::exp(-cases * (part(share, expected) + part(1.0 - share, 1.0 - expected)))
}

/// The distribution of the rate of a case with these trials.
pub fn posterior([a, b]: Beta, (passed, trials): Counts) -> Beta {
    [a + f64::from(passed), b + f64::from(trials.saturating_sub(passed))]
}

/// Logarithm of the probability of trials in their order, where the rate has this distribution.
pub fn log_likelihood([a, b]: Beta, (passed, trials): Counts) -> f64 {
    log_rising(a, passed) + log_rising(b, trials.saturating_sub(passed)) - log_rising(a + b, trials)
}

/// Logarithm of start · (start + 1) · … of so many factors.
fn log_rising(start: f64, count: u32) -> f64 {
    (0..count).map(|index| (start + f64::from(index)).ln()).sum()
}

/// Probability that at most so many of so many trials pass, where the rate has this distribution.
fn at_most(beta: Beta, (passed, trials): Counts) -> f64 {
    let mut ways = 0.0;
    let mut sum = 0.0;
    for count in 0..=passed.min(trials) {
        if count > 0 {
            ways += (f64::from(trials - count + 1) / f64::from(count)).ln();
        }
        sum += f64::exp(ways + log_likelihood(beta, (count, trials)));
    }
    f64::min(sum, 1.0)
}

/// Probability of results at least as good as the first and at least as bad as the second one, for the rate that makes it largest.
fn chance_of_fall(good: Counts, bad: Counts) -> f64 {
    let of = |step: u32| {
        let rate = f64::from(step) / f64::from(RATES);
        binomial_at_least(good.0, good.1, rate) * binomial_at_most(bad.0, bad.1, rate)
    };
    (1..RATES).map(of).fold(0.0, f64::max)
}

/// Whether a case passes more often than before.
pub fn has_risen(before: Counts, now: Counts) -> bool {
    now.0 >= FEWEST_PASSED && chance_of_fall(now, before) <= CHANCE_OF_CHANGE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite(of: &[(usize, u32, u32)]) -> UnchangedSuite {
        let line = |(passed, trials): (u32, u32)| {
            let mut line = BaselineCase::default();
            (line.passed, line.trials) = (passed, trials);
            line
        };
        let lines = of.iter().flat_map(|(count, passed, trials)| vec![line((*passed, *trials)); *count]);
        UnchangedSuite::new(&lines.collect::<Vec<_>>())
    }

    /// Failed trials that it takes, at most 30.
    fn needed(of: &[(usize, u32, u32)], accepted: Counts) -> Option<u32> {
        suite(of).failures_needed(accepted, 1, 30)
    }

    #[test]
    fn the_more_trials_a_baseline_has_the_fewer_failures_tell() {
        assert_eq!(needed(&[(30, 3, 3)], (3, 3)), Some(2), "three failed trials need no repetition");
        assert_eq!(needed(&[(30, 2, 2)], (2, 2)), Some(3));
        assert_eq!(needed(&[(30, 1, 1)], (1, 1)), Some(7));
        assert_eq!(needed(&[(1, 1, 1)], (1, 1)), Some(7), "a case by itself");
        let one_trial = needed(&[(27, 1, 1), (3, 0, 1)], (1, 1));
        let three_trials = needed(&[(22, 3, 3), (7, 2, 3), (1, 1, 3)], (3, 3));
        assert!(
            one_trial > three_trials && three_trials.is_some_and(|trials| trials <= 6),
            "{one_trial:?} {three_trials:?}"
        );
    }

    #[test]
    fn where_any_rate_is_possible_one_passed_trial_says_too_little() {
        assert_eq!(needed(&[(15, 1, 1), (15, 0, 1)], (1, 1)), None);
        let seldom = suite(&[(29, 3, 3), (1, 1, 30)]);
        assert!(!seldom.is_worse((1, 30), (0, 20)), "it passes once in thirty trials");
        assert!(seldom.is_worse((3, 3), (0, 20)));
    }

    #[test]
    fn a_suite_that_is_broken_is_seen_where_no_case_is() {
        let noisy = suite(&[(15, 1, 1), (15, 0, 1)]);
        assert_eq!(noisy.failures_needed((1, 1), 1, 30), None);
        let too_many = noisy.too_many_failures(1, Rule::Any);
        assert!((11..=14).contains(&too_many), "of fifteen, half may fail by chance: {too_many}");
        assert_eq!(suite(&[(9, 1, 1)]).too_many_failures(1, Rule::Any), 4);
        assert!(suite(&[(9, 1, 1)]).too_many_failures(3, Rule::Every) > 4);
        assert_eq!(suite(&[(1, 1, 1)]).too_many_failures(1, Rule::Any), u32::MAX, "one case says nothing");
        assert!((tail(15.0, 15.0, 7.5) - 0.5_f64.powi(15)).abs() < 1e-9);
    }

    #[test]
    fn trials_that_passed_count_too() {
        let stable = suite(&[(30, 10, 10)]);
        assert!(stable.is_worse((10, 10), (1, 6)) && !stable.is_worse((10, 10), (3, 4)));
        assert!(stable.chance((10, 10), (4, 4)) > 1.0, "every case passes all trials");
    }

    #[test]
    fn probabilities_are_those_of_the_distributions() {
        // Uniform rates: every number of passed trials is as likely.
        for passed in 0..=4 {
            assert!((at_most([1.0, 1.0], (passed, 4)) - f64::from(passed + 1) / 5.0).abs() < 1e-12);
        }
        assert!(chance_of_fall((1_000, 2_000), (990, 2_000)) > 0.1, "thousands of trials do not vanish");
        // r³·(1 − r)³ is at most 1/64.
        assert!((chance_of_fall((3, 3), (0, 3)) - 1.0 / 64.0).abs() < 1e-12);
        assert_eq!(posterior([1.0, 2.0], (3, 4)), [4.0, 3.0]);
    }
}
