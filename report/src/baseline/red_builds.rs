//! How often a baseline will call an agent that has not changed worse.

use evalsuite_records::record::{Baseline, BaselineCase, CaseRecord, PassState, Rule};
use evalsuite_records::repeated_cases::RepeatedCases;
use evalsuite_schema::SuiteKind;

use fastrand::Rng;

use crate::run_data::SuiteData;

/// How strongly the cases of a suite may resemble each other: a + b of the beta distribution of their rates.
const RESEMBLANCES: [f64; 12] = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0];
/// Runs that are drawn.
const DRAWS: usize = 2_000;
const SEED: u64 = 0x0b5e_55ed;
/// Most trials that are suggested.
const MOST_TRIALS: u32 = 20;

/// What share of the runs of an agent that has not changed will be red.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RedBuilds {
    /// Share of such runs in which the test of a case fails that the baseline says passes, 0 to 1, as far as the results of the run tell.
    pub share: f64,
    /// Number of trials of a case that brings it to 0.05 or less, if any up to 20 does.
    pub trials_needed: Option<u32>,
    /// Whether every trial has to pass, so that more trials make it larger.
    pub every: bool,
}

/// When the test of a case fails.
#[derive(Debug, Clone, Copy)]
struct Design {
    planned: u32,
    rule: Rule,
    kind: SuiteKind,
    /// Most trials that repeat a case that failed.
    confirming: u32,
}

/// A case whose trials pass with a probability that its own trials tell, and each further one.
#[derive(Debug, Clone, Copy)]
struct Urn {
    passes: f64,
    fails: f64,
}

impl RedBuilds {
    /// Largest share that is called small.
    pub const SMALL: f64 = 0.05;

    /// Of a baseline and a run of its suite. `confirming`: how many trials at most repeat a case that differs from the baseline. `None`
    /// without results.
    ///
    /// The rates of a suite's cases are taken to be of one beta distribution, fitted to the trials of all of them (beta-binomial); a case's
    /// own trials then tell where in it the case is. Where every case had one trial, cases that fail seldom cannot be told from some that
    /// always fail, and all are taken to have the same rate. From this, runs are drawn with a fixed seed, with the trials that repeat cases.
    pub fn of(baseline: &Baseline, suite: &SuiteData, confirming: u32) -> Option<Self> {
        Self::of_lines(&baseline.cases, &suite.cases.first()?.record, confirming)
    }

    fn of_lines(lines: &[BaselineCase], record: &CaseRecord, confirming: u32) -> Option<Self> {
        let design = Design { planned: record.planned.max(1), rule: record.rule, kind: record.kind, confirming };
        let urns = urns(lines, fitted(lines)?);
        let share = share(&urns, design);
        let is_small = |planned: &u32| self::share(&urns, Design { planned: *planned, ..design }) <= Self::SMALL;
        let every = design.rule == Rule::Every;
        let needed =
            if share > Self::SMALL && !every { (design.planned + 1..=MOST_TRIALS).find(is_small) } else { None };
        Some(Self { share, trials_needed: needed, every })
    }
}

/// The cases of which all trials passed: only their tests can become red by chance.
fn urns(lines: &[BaselineCase], [a, b]: [f64; 2]) -> Vec<Urn> {
    let passing = lines.iter().filter(|line| line.state() == PassState::Passes);
    passing.map(|line| Urn { passes: a + f64::from(line.passed), fails: b }).collect()
}

/// Share of drawn runs in which the test of any case is red.
fn share(urns: &[Urn], design: Design) -> f64 {
    let mut random = Rng::with_seed(SEED);
    let planned = u32::try_from(urns.len()).unwrap_or(u32::MAX).saturating_mul(design.planned);
    let red = (0..DRAWS).filter(|_| {
        let mut repeated = RepeatedCases::default();
        urns.iter().any(|urn| design.is_red(*urn, &mut repeated, planned, &mut random))
    });
    red.count() as f64 / DRAWS as f64
}

impl Design {
    /// Runs a case: whether its test is red.
    fn is_red(self, mut urn: Urn, repeated: &mut RepeatedCases, planned: u32, random: &mut Rng) -> bool {
        let mut passed = 0;
        for trial in 1..=self.planned {
            passed += u32::from(urn.draw(random));
            let is_decided = match self.rule {
                Rule::Any => passed > 0,
                Rule::Every => passed < trial,
                Rule::Mean | Rule::ConfidenceInterval => false,
            };
            if is_decided {
                break;
            }
        }
        let fails = match self.rule {
            Rule::Any => passed == 0,
            Rule::Every => passed < self.planned,
            // As often as not, a case that passes in half of its trials is below the threshold.
            Rule::Mean | Rule::ConfidenceInterval => 2 * passed < self.planned,
        };
        if !fails || passed > 0 {
            return fails;
        }
        let most = repeated.allowed(self.confirming, planned);
        let further = (1..=most).find(|_| urn.draw(random));
        if most > 0 {
            repeated.add(further.unwrap_or(most), further.is_none());
        }
        // Elsewhere a case that fails is red, whatever the trials show that repeat it.
        further.is_none() || self.kind != SuiteKind::Capability
    }
}

impl Urn {
    /// Draws a trial, and with it what is known of the next one (Pólya's urn).
    fn draw(&mut self, random: &mut Rng) -> bool {
        let passes = random.f64() * (self.passes + self.fails) < self.passes;
        *(if passes { &mut self.passes } else { &mut self.fails }) += 1.0;
        passes
    }
}

/// The beta distribution that makes the trials of all cases most likely; of equally likely ones, that with the most alike rates.
fn fitted(lines: &[BaselineCase]) -> Option<[f64; 2]> {
    let (passed, trials) =
        lines.iter().fold((0, 0), |(passed, trials), line| (passed + line.passed, trials + line.trials));
    if trials == 0 {
        return None;
    }
    let mean = (f64::from(passed) + 0.5) / (f64::from(trials) + 1.0);
    let of = |resemblance: f64| [mean * resemblance, (1.0 - mean) * resemblance];
    let likelihood = |[a, b]: [f64; 2]| -> f64 { lines.iter().map(|line| log_likelihood(line, a, b)).sum() };
    let likely = RESEMBLANCES.map(|resemblance| (of(resemblance), likelihood(of(resemblance))));
    let best = likely.iter().map(|(_, likelihood)| *likelihood).fold(f64::NEG_INFINITY, f64::max);
    likely.into_iter().rev().find(|(_, likelihood)| *likelihood >= best - 1e-6).map(|(distribution, _)| distribution)
}

/// Logarithm of the probability of a case's trials in their order, up to a constant.
fn log_likelihood(line: &BaselineCase, a: f64, b: f64) -> f64 {
    log_rising(a, line.passed) + log_rising(b, line.trials - line.passed) - log_rising(a + b, line.trials)
}

/// Logarithm of start · (start + 1) · … of so many factors.
fn log_rising(start: f64, count: u32) -> f64 {
    (0..count).map(|index| (start + f64::from(index)).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(of: &[(usize, u32, u32)]) -> Vec<BaselineCase> {
        let line = |(passed, trials): (u32, u32)| {
            let mut line = BaselineCase::default();
            (line.passed, line.trials) = (passed, trials);
            line
        };
        of.iter().flat_map(|(count, passed, trials)| vec![line((*passed, *trials)); *count]).collect()
    }

    fn record(kind: SuiteKind, rule: Rule, planned: u32) -> CaseRecord {
        let mut record = CaseRecord::new();
        (record.kind, record.rule, record.planned) = (kind, rule, planned);
        record
    }

    fn of(lines: &[BaselineCase], record: &CaseRecord, confirming: u32) -> RedBuilds {
        RedBuilds::of_lines(lines, record, confirming).unwrap()
    }

    #[test]
    fn thirty_cases_that_pass_nine_of_ten_times() {
        let noisy = lines(&[(27, 1, 1), (3, 0, 1)]);
        let any = |planned| record(SuiteKind::Capability, Rule::Any, planned);
        // 1 − 0.9²⁷ = 0.94, as each of the 27 fails in one run of ten.
        let unconfirmed = of(&noisy, &any(1), 0);
        assert!((0.9..0.97).contains(&unconfirmed.share), "{unconfirmed:?}");
        assert!((2..=4).contains(&unconfirmed.trials_needed.unwrap()), "{unconfirmed:?}");
        let confirmed = of(&noisy, &any(1), 10);
        assert!(confirmed.share < 0.01 && confirmed.trials_needed.is_none(), "{confirmed:?}");
        // A tenth of 100 trials is not enough to repeat the 21 cases that fail.
        let noisier = of(&lines(&[(70, 1, 1), (30, 0, 1)]), &any(1), 10);
        assert!(noisier.share > 0.9 && noisier.trials_needed.is_some_and(|trials| trials <= 5), "{noisier:?}");
        let every = of(&noisy, &record(SuiteKind::Regression, Rule::Every, 3), 10);
        assert!(every.share > 0.99 && every.every && every.trials_needed.is_none(), "{every:?}");
    }

    #[test]
    fn cases_that_never_flicker_are_told_from_those_that_do() {
        let every = record(SuiteKind::Regression, Rule::Every, 1);
        let stable = of(&lines(&[(25, 10, 10), (5, 0, 10)]), &every, 0);
        let alike = of(&lines(&[(15, 10, 10), (15, 7, 10)]), &every, 0);
        assert!(stable.share < 0.15, "{stable:?}");
        assert!(alike.share > 0.5, "{alike:?}");
    }

    #[test]
    fn nothing_is_said_without_results() {
        assert_eq!(RedBuilds::of_lines(&[], &CaseRecord::new(), 10), None);
        assert_eq!(RedBuilds::of(&Baseline::default(), &SuiteData::default(), 10), None);
    }
}
