//! Runs of one agent, counted together, and runs of the base that differ from each other by more than their trials do, as from day to day.
//!
//! Only those of the base say so: a rerun of the agent that comes out otherwise is no excuse for the run before it.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_records::record::{CaseRecord, Status};
use evalsuite_records::trial_statistics::t_quantile;
use evalsuite_statistics::{ExchangeTest, Unit, chi_square_at_least, mean, standardised_sum, student_at_most};
use serde::Serialize;

use super::compared::{Compared, RunScores};
use super::pairing::{has_same_definition, has_same_threshold};
use crate::run_data::{CaseData, RunData, SuiteData, identity};

/// Digits of a commit that are shown.
const COMMIT_DIGITS: usize = 10;

/// Runs of one agent that are counted together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CountedRuns {
    /// Their commit, hexadecimal.
    pub commit: String,
    /// Their ids, in the order in which their trials are counted.
    pub runs: Vec<String>,
}

impl CountedRuns {
    /// The runs of which a run consists; `None` if it is one run.
    pub(super) fn of(run: &RunData) -> Option<Self> {
        let git = run.record.as_ref().and_then(|record| record.git.as_ref());
        let commit = git.map(|git| git.commit.clone()).unwrap_or_default();
        (!run.counted_runs.is_empty()).then(|| Self { commit, runs: run.counted_runs.clone() })
    }
}

/// `2 runs of commit 0bcda22610 counted together: a, b`.
impl std::fmt::Display for CountedRuns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let commit = self.commit.get(..COMMIT_DIGITS).unwrap_or(&self.commit);
        write!(f, "{} runs of commit {commit} counted together: {}", self.runs.len(), self.runs.join(", "))
    }
}

/// Runs of one agent as one run, which has the id of the last one: of each case, the trials of all runs, one run after the other.
///
/// A case is counted as it is in the last run that did not skip it, with the outcome of that run; results with another definition or another
/// rule are left out, and so are further copies of one result ([`reused_run`](CaseRecord::reused_run)). The records of each run are in
/// [`of_runs`](CaseData::of_runs).
pub fn pooled(mut runs: Vec<RunData>) -> RunData {
    let Some(mut all) = runs.pop() else { return RunData::default() };
    if runs.is_empty() {
        return all;
    }
    all = all.into_measured();
    // What it decided while it ran is about its own trials.
    all.alone = all.decision.is_some().then(|| Box::new(without_trials(&all)));
    let names = all.suite_names();
    let runs = runs.into_iter().map(|run| run.into_measured().with_suite_names(&names));
    let mut counted = Vec::new();
    let mut earlier: BTreeMap<[String; 3], Vec<CaseData>> = BTreeMap::new();
    for run in runs {
        let mut of_run = BTreeSet::new();
        for mut suite in run.suites {
            for case in std::mem::take(&mut suite.cases) {
                let key = identity(&case.record).map(str::to_owned);
                // Of several tests that run one case, the first one is compared.
                if of_run.insert(key.clone()) {
                    earlier.entry(key).or_default().push(case);
                }
            }
            if all.suites.iter().all(|known| known.name != suite.name) {
                all.suites.push(suite);
            }
        }
        counted.push(run.run_id);
    }
    counted.push(all.run_id.clone());
    for suite in &mut all.suites {
        let mut cases = Vec::new();
        for case in std::mem::take(&mut suite.cases) {
            let before = earlier.remove(&identity(&case.record).map(str::to_owned)).unwrap_or_default();
            cases.extend(counted_together(before.into_iter().chain([case]).collect()));
        }
        let others: Vec<[String; 3]> = earlier.keys().filter(|key| key[0] == suite.name).cloned().collect();
        let others = others.iter().filter_map(|key| counted_together(earlier.remove(key)?));
        suite.cases = cases.into_iter().chain(others).collect();
    }
    all.counted_runs = counted;
    all
}

/// A case of several runs as one, in the order of the runs.
fn counted_together(mut cases: Vec<CaseData>) -> Option<CaseData> {
    let last = cases.iter().rposition(|case| case.record.outcome != Status::Skipped).unwrap_or(cases.len() - 1);
    let is_same = |record: &CaseRecord| {
        let last = &cases[last].record;
        has_same_definition(last, record) && has_same_threshold(last, record) && last.rule == record.rule
    };
    let mut seen = BTreeSet::new();
    let records = cases.iter().map(|case| &case.record).filter(|record| record.completed > 0 && is_same(record));
    let records: Vec<CaseRecord> = records.filter(|record| seen.insert(record.run_of_result())).cloned().collect();
    let mut case = cases.swap_remove(last);
    case.other_attempts.extend(cases.into_iter().flat_map(|case| case.other_attempts));
    let own = &case.record;
    if !records.is_empty() && records.iter().any(|record| record.run_id != own.run_id) {
        case.record = one_record(case.record, &records);
        case.of_runs = records;
    }
    Some(case)
}

/// A record with the trials of all these records.
fn one_record(mut all: CaseRecord, records: &[CaseRecord]) -> CaseRecord {
    let sum = |of: fn(&CaseRecord) -> u32| records.iter().map(of).sum();
    all.passed = sum(|record| record.passed);
    all.completed = sum(|record| record.completed);
    all.errors = sum(|record| record.errors);
    all.planned = sum(|record| record.planned);
    all.stops_early = records.iter().any(CaseRecord::ends_early);
    all.truncated = false;
    all.trials = records.iter().flat_map(|record| record.trials.clone()).collect();
    all.confirming = records.iter().flat_map(|record| record.confirming.clone()).collect();
    for (index, trial) in (0..).zip(all.trials.iter_mut().chain(&mut all.confirming)) {
        trial.index = index;
    }
    all
}

/// A copy of a run without the records of its trials, which no comparison of scores needs.
pub(crate) fn without_trials(run: &RunData) -> RunData {
    fn of_case(case: &CaseData) -> CaseData {
        CaseData {
            name: case.name.clone(),
            directory: case.directory.clone(),
            record: case.record.clone(),
            trials: Vec::new(),
            other_attempts: case.other_attempts.iter().map(of_case).collect(),
            of_runs: case.of_runs.clone(),
        }
    }
    let suite = |suite: &SuiteData| SuiteData {
        name: suite.name.clone(),
        id: suite.id.clone(),
        cases: suite.cases.iter().map(of_case).collect(),
        ..SuiteData::default()
    };
    RunData {
        run_id: run.run_id.clone(),
        directory: run.directory.clone(),
        record: run.record.clone(),
        in_use: run.in_use,
        suites: run.suites.iter().map(suite).collect(),
        problems: run.problems.clone(),
        counted_runs: run.counted_runs.clone(),
        without_records: Vec::new(),
        decision: run.decision.clone(),
        alone: None,
    }
}

/// Leaves out the cases that another run does not have, or skipped.
pub fn retain_cases_of(run: RunData, other: &RunData) -> RunData {
    let cases = || other.suites.iter().flat_map(|suite| &suite.cases);
    let ran = cases().filter(|case| case.record.outcome != Status::Skipped);
    let ran: BTreeSet<[&str; 3]> = ran.map(|case| identity(&case.record)).collect();
    let mut run = run.with_suite_names(&other.suite_names());
    run.suites.iter_mut().for_each(|suite| suite.cases.retain(|case| ran.contains(&identity(&case.record))));
    run
}

/// Largest probability of the differences of cases at which each case counts as one in the test of the scores. That costs little
/// power. Of three trials, one case that comes out otherwise in all of them has 0.1.
pub(super) const ALIKE: f64 = 0.12;

/// How far runs of the base are from each other, where that is more than chance explains.
pub(super) struct BetweenRuns {
    /// Probability that they differ as much if only their trials do.
    pub(super) p: f64,
    degrees: usize,
    /// Of each sum, the standard deviation of the difference of the means of base and run, if all runs differ as those of the base do.
    deviations: Vec<f64>,
}

impl BetweenRuns {
    /// Of these cases, in `sums` sums: all of them, then those of each slice. `None` if the base is one run, or its runs do not differ.
    pub(super) fn of(compared: &[Compared], sums: usize) -> Option<Self> {
        let base = Runs::new(compared, 0);
        let p = base.chance().filter(|p| *p <= ALIKE)?;
        let degrees = base.ids.len() - 1;
        let per_run = 1.0 / base.ids.len() as f64 + 1.0 / Runs::new(compared, 1).ids.len().max(1) as f64;
        let deviation = |sum: usize| (base.squares(sum) / degrees as f64 * per_run).sqrt();
        Some(Self { p, degrees, deviations: (0..sums).map(deviation).collect() })
    }

    /// The test of a sum with this mean difference, of so many cases, if each run counts as one.
    pub(super) fn test(&self, sum: usize, difference: f64, cases: usize, by_trial: ExchangeTest) -> ExchangeTest {
        let deviation = self.deviations[sum];
        let t = if deviation > 0.0 { difference / deviation } else { 0.0 };
        ExchangeTest {
            at_most: by_trial.at_most.max(student_at_most(t, self.degrees)),
            at_least: by_trial.at_least.max(student_at_most(-t, self.degrees)),
            deviation: by_trial.deviation.max(deviation * cases as f64),
        }
    }

    /// An interval of the mean difference of all cases that is not narrower than that of the runs.
    pub(super) fn widened(&self, (lower, upper): (f64, f64), difference: f64) -> (f64, f64) {
        let half = t_quantile(self.degrees as f64) * self.deviations[0];
        (lower.min(difference - half).max(-1.0), upper.max(difference + half).min(1.0))
    }
}

/// The runs of one agent that are counted together, and the scores of each case by run.
struct Runs<'a> {
    ids: BTreeSet<&'a str>,
    cases: Vec<(&'a [RunScores], &'a [usize])>,
}

impl<'a> Runs<'a> {
    fn new(compared: &'a [Compared], side: usize) -> Self {
        let cases: Vec<_> =
            compared.iter().map(|case| (case.by_run[side].as_slice(), case.slices.as_slice())).collect();
        let ids = cases.iter().flat_map(|(runs, _)| runs.iter().map(|(run, _)| run.as_str())).collect();
        Self { ids, cases }
    }

    /// Probability that the runs differ as much from each other if only the trials differ: by exchanges of trials between each run and the
    /// others, whose sums are taken to be normal (χ²). `None` of a single run.
    fn chance(&self) -> Option<f64> {
        let degrees = self.ids.len().checked_sub(1).filter(|degrees| *degrees > 0)?;
        let of = |run: &&str| {
            let units = self.cases.iter().filter_map(|(runs, _)| {
                let (own, others): (Vec<&RunScores>, Vec<&RunScores>) = runs.iter().partition(|(of, _)| of == run);
                let [own, others] =
                    [own, others].map(|runs| runs.iter().flat_map(|(_, scores)| scores.clone()).collect::<Vec<f64>>());
                (!own.is_empty() && !others.is_empty()).then(|| Unit::scores(&others, &own, vec![0]))
            });
            standardised_sum(&units.collect::<Vec<Unit>>(), 0).powi(2)
        };
        // Each of k runs counts once in its own sum, and in those of all others.
        let squares = self.ids.iter().map(of).sum::<f64>() * degrees as f64 / self.ids.len() as f64;
        Some(chi_square_at_least(squares, degrees))
    }

    /// Sum over the runs of the squares of what each has more or less than all of them, in the mean of its cases of a sum.
    fn squares(&self, sum: usize) -> f64 {
        let mut effects: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        let is_in = |slices: &[usize]| sum == 0 || slices.contains(&(sum - 1));
        for (runs, _) in self.cases.iter().filter(|(_, slices)| is_in(slices)) {
            let means: Vec<f64> = runs.iter().map(|(_, scores)| mean(scores)).collect();
            let all = mean(&means);
            runs.iter().zip(&means).for_each(|((run, _), of_run)| effects.entry(run).or_default().push(of_run - all));
        }
        effects.values().map(|effects| mean(effects).powi(2)).sum()
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_records::record::{GitState, Rule, RunRecord, TrialSummary};
    use evalsuite_records::run_directory::CaseDirectoryName;
    use evalsuite_statistics::{CaseTrials, End, Series};

    use super::*;

    /// A run with cases: id, definition, outcome, and whether each trial passed.
    fn run(id: &str, cases: &[(&str, &str, Status, &[bool])]) -> RunData {
        let case = |&(case, definition, outcome, trials): &(&str, &str, Status, &[bool])| {
            let mut record = CaseRecord::new();
            (record.run_id, record.suite) = (id.to_owned(), "shop".to_owned());
            (record.case_id, record.case_digest) = (case.to_owned(), definition.to_owned());
            (record.input_digest, record.grader_digest) = (definition.to_owned(), definition.to_owned());
            record.outcome = outcome;
            record.passed = trials.iter().map(|passed| u32::from(*passed)).sum();
            record.completed = u32::try_from(trials.len()).unwrap();
            record.planned = record.completed;
            let trial = |passed: &bool| {
                let mut trial = TrialSummary::default();
                trial.outcome = if *passed { Status::Passed } else { Status::Failed };
                trial.score = Some(f64::from(u8::from(*passed)));
                trial
            };
            record.trials = trials.iter().map(trial).collect();
            let name = CaseDirectoryName::parse(case);
            CaseData {
                name,
                directory: case.into(),
                record,
                trials: Vec::new(),
                other_attempts: Vec::new(),
                of_runs: Vec::new(),
            }
        };
        let mut record = RunRecord::new();
        record.git = Some(GitState::new("0123456789abcdef", false));
        let suite =
            SuiteData { name: "shop".to_owned(), cases: cases.iter().map(case).collect(), ..SuiteData::default() };
        RunData { run_id: id.to_owned(), record: Some(record), suites: vec![suite], ..RunData::default() }
    }

    fn case<'a>(run: &'a RunData, id: &str) -> &'a CaseData {
        run.suites[0].cases.iter().find(|case| case.record.case_id == id).unwrap()
    }

    const P: Status = Status::Passed;
    const F: Status = Status::Failed;

    #[test]
    fn trials_of_a_case_follow_those_of_the_run_before() {
        let all = pooled(vec![
            run("a", &[("x", "1", F, &[false, false]), ("y", "1", P, &[true]), ("z", "1", P, &[true])]),
            run("b", &[("x", "1", P, &[true, false]), ("y", "2", F, &[false])]),
            run("c", &[("x", "1", P, &[true, true]), ("y", "1", Status::Skipped, &[])]),
        ]);
        let x = case(&all, "x");
        let passed: Vec<bool> = x.record.trials.iter().map(|trial| trial.outcome == P).collect();
        assert_eq!(passed, [false, false, true, false, true, true]);
        assert_eq!((x.record.passed, x.record.completed, x.record.outcome), (3, 6, P));
        assert_eq!(x.record.trials.iter().map(|trial| trial.index).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(x.of_runs.iter().map(|record| record.run_id.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
        // The definition is that of the last run that has a result; a result with another one does not count.
        let y = case(&all, "y");
        assert_eq!((y.record.passed, y.record.completed, y.of_runs.len()), (0, 1, 0));
        assert_eq!(case(&all, "z").record.completed, 1, "the case ran in the first run only");
        assert_eq!((all.run_id.as_str(), all.counted_runs.join(" ")), ("c", "a b c".to_owned()));
        let text = CountedRuns::of(&all).unwrap().to_string();
        assert_eq!(text, "3 runs of commit 0123456789 counted together: a, b, c");
        assert_eq!(CountedRuns::of(&pooled(vec![run("a", &[])])), None);
    }

    #[test]
    fn copies_of_results_count_once() {
        let mut second = run("b", &[("x", "1", F, &[false])]);
        second.suites[0].cases[0].record.reused_run = Some("a".to_owned());
        let all = pooled(vec![run("a", &[("x", "1", F, &[false])]), second.clone()]);
        assert_eq!(case(&all, "x").record.completed, 1);
        let all = pooled(vec![run("c", &[("x", "1", F, &[false])]), second]);
        assert_eq!(case(&all, "x").record.completed, 2, "of a run that is not counted");
        let copy = |id: &str| {
            let mut copy = run(id, &[("x", "1", F, &[false])]);
            copy.suites[0].cases[0].record.reused_run = Some("a".to_owned());
            copy
        };
        let all = pooled(vec![copy("b"), copy("c")]);
        assert_eq!(case(&all, "x").record.completed, 1, "two copies of a result of a run that is not counted");
    }

    #[test]
    fn cases_that_decide_by_another_rule_are_left_out() {
        let mut first = run("a", &[("x", "1", F, &[false])]);
        first.suites[0].cases[0].record.rule = Rule::Every;
        let all = pooled(vec![first, run("b", &[("x", "1", P, &[true])])]);
        assert_eq!(case(&all, "x").record.completed, 1);
        let kept = retain_cases_of(run("a", &[("x", "1", P, &[true]), ("y", "1", P, &[true])]), &all);
        assert_eq!(kept.suites[0].cases.len(), 1);
    }

    /// Cases whose base has these runs, with one score of each case and run.
    fn compared(base: &[&[f64]], run: &[f64]) -> Vec<Compared> {
        let none = Series { passed: 0, failed: 0, end: End::Planned };
        let case = |index: usize| Compared {
            base: base.iter().map(|scores| scores[index]).collect(),
            run: vec![run[index]],
            trials: CaseTrials { base: none, run: none, confirmed: 0, confirmed_better: 0, refuted: false },
            cluster: index,
            slices: Vec::new(),
            unknown: [0, 0],
            by_run: [
                base.iter().enumerate().map(|(number, scores)| (number.to_string(), vec![scores[index]])).collect(),
                vec![("run".to_owned(), vec![run[index]])],
            ],
        };
        (0..run.len()).map(case).collect()
    }

    #[test]
    fn runs_that_differ_more_than_their_trials_count_as_one_each() {
        let [low, high, middle] = [[0.2; 20], [0.8; 20], [0.5; 20]];
        let cases = compared(&[&low, &high, &middle], &[0.3; 20]);
        let found = BetweenRuns::of(&cases, 1).unwrap();
        assert!(found.p < 0.01 && found.degrees == 2, "{}", found.p);
        // 0.3 · √(1 + 1/3)
        assert!((found.deviations[0] - 0.3 * (4.0_f64 / 3.0).sqrt()).abs() < 1e-12, "{:?}", found.deviations);
        let sure = ExchangeTest { at_most: 0.001, at_least: 1.0, deviation: 0.1 };
        let test = found.test(0, -0.2, 20, sure);
        assert!((0.2..0.4).contains(&test.at_most) && test.deviation > 6.0, "{test:?}");
        assert!(found.test(0, -3.0, 20, sure).at_most < 0.02);
        let (lower, upper) = found.widened((-0.3, -0.1), -0.2);
        assert!(lower < -0.9 && upper > 0.9, "{lower} {upper}");
    }

    #[test]
    fn runs_that_differ_as_their_trials_do_are_one_sample() {
        let alternating: Vec<f64> = (0..20).map(|index| f64::from(index % 2)).collect();
        let other: Vec<f64> = alternating.iter().map(|score| 1.0 - score).collect();
        assert!(BetweenRuns::of(&compared(&[&alternating, &other, &alternating], &other), 1).is_none());
        assert!(BetweenRuns::of(&compared(&[&[0.5; 20]], &[0.1; 20]), 1).is_none(), "one run says nothing");
    }
}
