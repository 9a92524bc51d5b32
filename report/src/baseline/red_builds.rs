//! How often a baseline will call an agent that has not changed worse.

use std::collections::BTreeMap;

use evalsuite_records::baseline::{Counts, UnchangedSuite};
use evalsuite_records::record::{Baseline, BaselineCase, CaseRecord, Rule};
use evalsuite_records::repeated_cases::RepeatedCases;
use evalsuite_schema::SuiteKind;

use fastrand::Rng;

use crate::run_data::SuiteData;

/// Runs that are drawn.
const DRAWS: usize = 2_000;
const SEED: u64 = 0x0b5e_55ed;
/// Most trials that are suggested.
const MOST_TRIALS: u32 = 20;

/// What share of the runs of an agent that has not changed will be red.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RedBuilds {
    /// Share of such runs in which the test of a case fails, 0 to 1, as far as the accepted results tell.
    pub share: f64,
    /// Number of trials of a case that brings it to 0.05 or less, if any up to 20 does.
    pub trials_needed: Option<u32>,
    /// Whether every trial has to pass, so that more trials make it larger.
    pub every: bool,
    /// Number of cases that pass, and whose tests cannot tell a failure from chance yet: they have too few accepted trials.
    pub untold: usize,
    /// Number of cases that pass.
    pub passing: usize,
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

/// A case as it is accepted, and what is known of its rate.
#[derive(Debug, Clone, Copy)]
struct Case {
    accepted: Counts,
    urn: Urn,
    /// Failed trials that tell that it passes no more, if as many as may run do.
    needed: Option<u32>,
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
        if lines.is_empty() {
            return None;
        }
        let design = Design { planned: record.planned.max(1), rule: record.rule, kind: record.kind, confirming };
        let simulation = Simulation { lines, suite: UnchangedSuite::new(lines) };
        let cases = simulation.cases(design);
        let share = simulation.share(&cases, design);
        let is_small = |planned: &u32| {
            let design = Design { planned: *planned, ..design };
            simulation.share(&simulation.cases(design), design) <= Self::SMALL
        };
        let every = design.rule == Rule::Every;
        let needed =
            if share > Self::SMALL && !every { (design.planned + 1..=MOST_TRIALS).find(is_small) } else { None };
        let passing = cases.iter().filter(|case| case.accepted.0 > 0);
        let untold =
            passing.clone().filter(|case| case.needed.is_none() && design.kind == SuiteKind::Capability).count();
        Some(Self { share, trials_needed: needed, every, untold, passing: passing.count() })
    }
}

/// What runs are drawn from.
struct Simulation<'a> {
    lines: &'a [BaselineCase],
    suite: UnchangedSuite,
}

impl Simulation<'_> {
    fn cases(&self, design: Design) -> Vec<Case> {
        let mut known: BTreeMap<Counts, Option<u32>> = BTreeMap::new();
        let mut case = |line: &BaselineCase| {
            let accepted = (line.passed, line.trials);
            let most = design.planned.saturating_add(design.confirming);
            let needed = known.entry(accepted);
            let needed = *needed.or_insert_with(|| self.suite.failures_needed(accepted, design.planned, most));
            let [passes, fails] = self.suite.rate_of(accepted);
            Case { accepted, urn: Urn { passes, fails }, needed }
        };
        self.lines.iter().map(&mut case).collect()
    }

    /// Share of drawn runs in which the test of any case is red.
    fn share(&self, cases: &[Case], design: Design) -> f64 {
        let mut random = Rng::with_seed(SEED);
        let planned = u32::try_from(cases.len()).unwrap_or(u32::MAX).saturating_mul(design.planned);
        let too_many = self.suite.too_many_failures(design.planned, design.rule);
        let red = (0..DRAWS).filter(|_| {
            let (mut repeated, mut failed) = (RepeatedCases::default(), 0);
            cases.iter().any(|case| {
                let (fails, is_red) = self.run(*case, design, &mut repeated, planned, &mut random);
                failed += u32::from(fails);
                is_red || design.kind == SuiteKind::Capability && failed >= too_many
            })
        });
        red.count() as f64 / DRAWS as f64
    }

    /// Runs a case: whether it fails though it has passed, and whether its test is red for that.
    fn run(
        &self,
        Case { accepted, mut urn, needed }: Case,
        design: Design,
        repeated: &mut RepeatedCases,
        planned: u32,
        random: &mut Rng,
    ) -> (bool, bool) {
        let reads_baseline = design.kind == SuiteKind::Capability;
        if reads_baseline && accepted.0 == 0 {
            return (false, false);
        }
        let (passed, trials) = design.draw(&mut urn, random);
        let fails = match design.rule {
            Rule::Any => passed == 0,
            Rule::Every => passed < design.planned,
            // As often as not, a case that passes in half of its trials is below the threshold.
            Rule::Mean | Rule::ConfidenceInterval => 2 * passed < design.planned,
        };
        if !fails || !reads_baseline {
            return (fails, fails);
        }
        if passed > 0 {
            return (true, self.suite.is_worse(accepted, (passed, trials)));
        }
        let Some(missing) = needed.map(|needed| needed.saturating_sub(trials)) else { return (true, false) };
        if missing == 0 || repeated.allowed(design.confirming, planned) == 0 {
            return (true, missing == 0);
        }
        let further = (1..=missing).find(|_| urn.draw(random));
        repeated.add(further.unwrap_or(missing), further.is_none());
        (true, further.is_none())
    }
}

impl Design {
    /// The planned trials of a case: how many passed, and how many ran.
    fn draw(self, urn: &mut Urn, random: &mut Rng) -> Counts {
        let mut passed = 0;
        for trial in 1..=self.planned {
            passed += u32::from(urn.draw(random));
            let is_decided = match self.rule {
                Rule::Any => passed > 0,
                Rule::Every => passed < trial,
                Rule::Mean | Rule::ConfidenceInterval => false,
            };
            if is_decided {
                return (passed, trial);
            }
        }
        (passed, self.planned)
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
        let unconfirmed = of(&noisy, &any(1), 0);
        assert!(unconfirmed.share < 0.005, "{unconfirmed:?}");
        assert_eq!((unconfirmed.untold, unconfirmed.passing), (27, 27), "{unconfirmed:?}");
        let confirmed = of(&noisy, &any(1), 30);
        assert!(confirmed.share < 0.02 && confirmed.untold == 0, "{confirmed:?}");
        // 1 − 0.9³⁰ = 0.96: elsewhere a case that fails is red.
        let mixed = of(&noisy, &record(SuiteKind::Mixed, Rule::Any, 1), 30);
        assert!((0.93..0.98).contains(&mixed.share) && mixed.trials_needed == Some(3), "{mixed:?}");
        let every = of(&noisy, &record(SuiteKind::Regression, Rule::Every, 3), 30);
        assert!(every.share > 0.99 && every.every && every.trials_needed.is_none(), "{every:?}");
        // Half of the cases have been seen to fail: they are not left out.
        let flaky = of(&lines(&[(15, 3, 3), (15, 1, 3)]), &any(3), 30);
        assert!(flaky.share < 0.03, "{flaky:?}");
    }

    #[test]
    fn cases_that_never_flicker_are_told_from_those_that_do() {
        let every = record(SuiteKind::Regression, Rule::Every, 1);
        let stable = of(&lines(&[(30, 10, 10)]), &every, 0);
        let alike = of(&lines(&[(15, 10, 10), (15, 7, 10)]), &every, 0);
        assert!(stable.share < 0.15, "{stable:?}");
        assert!(alike.share > 0.5, "{alike:?}");
        assert!(of(&lines(&[(29, 10, 10), (1, 0, 10)]), &every, 0).share > 0.9, "a case fails in every run");
    }

    #[test]
    fn nothing_is_said_without_results() {
        assert_eq!(RedBuilds::of_lines(&[], &CaseRecord::new(), 10), None);
        assert_eq!(RedBuilds::of(&Baseline::default(), &SuiteData::default(), 10), None);
    }
}
