//! A case in view of the accepted results of its suite: what they say about it, and the trials that repeat a case whose planned trials
//! differ from them, before its result is reported.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use evalsuite_records::baseline::{
    CaseDesign, Chance, RepeatedCases, Repetition, UnchangedSuite, accepted_result, baseline_file, result_of,
    unchanged_suite,
};
use evalsuite_records::record::{
    BaselineCase, BaselineResult, CaseRecord, Expectation, Mode, Reason, ReasonCode, Rule, Stage, Status,
};
use evalsuite_schema::decimal::shown_against;
use evalsuite_schema::{SuiteKind, Trials};

use crate::grade::scoring::{CaseStandard, case_rule, decide_case};
use crate::model::suite::{EvalCase, EvalSuite};
use crate::model::suite_location::package_directory;
use crate::platform::file_lock::FileLock;
use crate::platform::files::{read_json, write_json};
use crate::platform::redaction::Redactor;
use crate::run::case_setup::CaseSetup;
use crate::run::plan::Plan;
use crate::run::trials::counted_trials::{CaseTrials, StopRule, TrialsEnd, results};
use crate::run::trials::running_trials::RunningTrials;

/// The file with the baseline of the case's suite, which need not exist.
fn file(plan: &Plan<'_>) -> PathBuf {
    baseline_file(&package_directory(plan.suite), &plan.suite.id())
}

/// Adds what the baseline says about the case; an error if the baseline is invalid. It counts in suites of kind `capability` only.
pub(crate) fn judge(plan: &Plan<'_>, record: &mut CaseRecord) {
    // The test of a reference arm does not fail.
    if plan.data.kind != SuiteKind::Capability || record.outcome == Status::Error || record.reference_arm {
        return;
    }
    match result_of(&file(plan), record, || chance(plan, record), |line| design(plan, line)) {
        Ok(result) => record.baseline = result,
        Err(error) => {
            record.outcome = Status::Error;
            record.reason = Some(Reason::new(Stage::Setup, ReasonCode::InvalidSetting, error.to_string()));
        }
    }
}

/// How a run decides the case of a line of the baseline; `None` if the suite does not have it.
fn design(plan: &Plan<'_>, line: &BaselineCase) -> Option<CaseDesign> {
    let trials = trials_of_cases(plan.suite);
    let case = line.case.as_str();
    let trials = trials.get(&(case, Some(&*line.target))).or_else(|| trials.get(&(case, None)))?;
    let count = plan.settings.trials.unwrap_or(trials.count);
    Some(CaseDesign::new(count, case_rule(plan.data.kind, trials.strategy), trials.correlated))
}

/// The trials of the cases of a suite, by id and target of a matrix.
type TrialsOfCases = BTreeMap<(&'static str, Option<&'static str>), Trials>;

/// The trials of all cases of a suite. Every case that fails asks, so their texts are decoded once.
fn trials_of_cases(suite: &'static EvalSuite) -> Arc<TrialsOfCases> {
    static KNOWN: Mutex<BTreeMap<usize, Arc<TrialsOfCases>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let decoded = || {
        // One that cannot be decoded is an error of its own test.
        let trials = |case: &'static EvalCase| Some(((case.id, case.target), case.decode().ok()?.trials));
        Arc::new(suite.cases.iter().filter_map(trials).collect())
    };
    Arc::clone(known.entry(std::ptr::from_ref(suite).addr()).or_insert_with(decoded))
}

/// Whether a case that fails, and has passed in the baseline, may have failed by chance. The other cases of the suite learn of it.
fn chance(plan: &Plan<'_>, record: &CaseRecord) -> io::Result<Chance> {
    if plan.settings.mode != Mode::Live {
        return Ok(Chance::None);
    }
    if record.outcome != Status::Failed {
        return Ok(Chance::WithFailures(0));
    }
    add_failing_case(&plan.run.locks(), &plan.suite.key(), &record.case_key).map(Chance::WithFailures)
}

/// Repeats the case if its trials differ from its baseline, and if there is room for it in the run.
pub(crate) fn confirm<'a>(plan: &'a Plan<'a>, setup: &mut CaseSetup<'a>, trials: &mut CaseTrials) -> io::Result<()> {
    let most = plan.settings.confirm;
    if plan.settings.mode != Mode::Live
        || plan.settings.model_calls.is_some()
        || most == 0
        || plan.case.trials.correlated
        || matches!(plan.standard.rule, Rule::Mean | Rule::ConfidenceInterval)
        || trials.end != TrialsEnd::Decided
    {
        return Ok(());
    }
    // A baseline that is not valid is reported with the outcome of the case.
    let file = file(plan);
    let Ok(Some(accepted)) = accepted_result(&file, &plan.identity, plan.standard.threshold) else { return Ok(()) };
    let Some(repetition) = repetition(trials, plan, &accepted, || unchanged_suite(&file).ok(), most) else {
        return Ok(());
    };
    let locks = plan.run.locks();
    let cases = u32::try_from(plan.suite.cases.len()).unwrap_or(u32::MAX);
    let planned = cases.saturating_mul(plan.planned);
    let takes_room = repetition.takes_room();
    if takes_room && repeated_cases(&locks, &plan.suite.key())?.allowed(most, planned) == 0 {
        return Ok(());
    }
    let cost_limit_usd = plan.case.trials.cost_limit_usd;
    let rule = if repetition.until == Status::Passed { Rule::Any } else { Rule::Every };
    let standard = CaseStandard { rule, tolerated_errors: 0, ..plan.standard };
    let stop = StopRule { standard, planned: repetition.trials, run_all: false, ends_with_error: true, cost_limit_usd };
    let running = RunningTrials::new(plan, setup, stop, plan.planned);
    running.work()?;
    let mut repeated = running.into_case_trials();
    trials.confirming = repeated.counted;
    trials.retried.append(&mut repeated.retried);
    let count = u32::try_from(trials.confirming.len()).unwrap_or(u32::MAX);
    let all_failed = trials.confirming.iter().all(|trial| trial.outcome == Status::Failed);
    if takes_room {
        add_repeated_case(&locks, &plan.suite.key(), count, count == repetition.trials && all_failed)
    } else {
        Ok(())
    }
}

/// How the case is repeated; `None` if it is not.
fn repetition(
    trials: &CaseTrials,
    plan: &Plan<'_>,
    accepted: &BaselineCase,
    suite: impl FnOnce() -> Option<UnchangedSuite>,
    most: u32,
) -> Option<Repetition> {
    let points = results(&trials.counted);
    let count = |outcome| points.iter().filter(|point| point.outcome == outcome).count();
    let (passed, failed) = (count(Status::Passed), count(Status::Failed));
    if passed + failed < points.len() {
        return None;
    }
    let ran = (u32::try_from(passed).ok()?, u32::try_from(points.len()).ok()?);
    let outcome = decide_case(plan.standard, &points).0;
    Repetition::of(outcome, ran, (accepted.passed, accepted.trials), suite, most)
}

/// What the tests of a run have written; nothing if none did.
fn repeated_cases(locks: &Path, suite: &str) -> io::Result<RepeatedCases> {
    Ok(read_json(&locks.join(format!("repeated-{suite}.json")))?.unwrap_or_default())
}

/// Adds a case to what the tests of a run have written.
fn add_repeated_case(locks: &Path, suite: &str, trials: u32, is_confirmed: bool) -> io::Result<()> {
    let _lock = FileLock::acquire(&locks.join(format!("repeated-{suite}.lock")))?;
    let mut repeated = repeated_cases(locks, suite)?;
    repeated.add(trials, is_confirmed);
    write_json(&locks.join(format!("repeated-{suite}.json")), &repeated, &Redactor::default())
}

/// Adds a case that fails and has passed in its baseline to those that the tests of a run have written; returns their number.
fn add_failing_case(locks: &Path, suite: &str, case: &str) -> io::Result<u32> {
    let _lock = FileLock::acquire(&locks.join(format!("repeated-{suite}.lock")))?;
    let file = locks.join(format!("failing-{suite}.json"));
    let mut cases: BTreeSet<String> = read_json(&file)?.unwrap_or_default();
    if cases.insert(case.to_owned()) {
        write_json(&file, &cases, &Redactor::default())?;
    }
    Ok(u32::try_from(cases.len()).unwrap_or(u32::MAX))
}

/// Writes what the baseline says about a case, and how the trials ended that repeated it, into the text of its test.
pub(crate) fn write_text(out: &mut String, record: &CaseRecord) -> fmt::Result {
    if let Some(baseline) = &record.baseline {
        writeln!(out, "  baseline: {}", in_baseline(record, baseline))?;
    }
    if !record.confirming.is_empty() {
        writeln!(out, "  repeated, as it passed in the baseline: {}", repeated(record))?;
    }
    Ok(())
}

/// What a baseline counts of a case.
fn observations(record: &CaseRecord) -> &'static str {
    if record.is_one_observation() { "runs" } else { "trials" }
}

/// What a baseline says about a case that failed.
fn in_baseline(record: &CaseRecord, BaselineResult { expectation, passed, trials, .. }: &BaselineResult) -> String {
    let of = format!("of {trials} {}", observations(record));
    match expectation {
        Expectation::ExpectedFailure => format!("expected failure, none {of} passed"),
        Expectation::Quarantined => format!("quarantined as flaky, {passed} {of} passed; this failure may be chance"),
        Expectation::Unconfirmed => format!("{passed} {of} passed; this failure may be chance"),
        Expectation::Regression => format!("regression, {passed} {of} passed"),
        Expectation::Redefined => {
            "not comparable, its input, graders, threshold or strategy has changed since".to_owned()
        }
        _ => format!("{passed} {of} passed"),
    }
}

/// How the trials ended that repeated the case.
fn repeated(record: &CaseRecord) -> String {
    let passed = record.confirming.iter().filter(|trial| trial.outcome == Status::Passed).count();
    match record.confirming.len() {
        1 if passed == 0 => "one further trial did not pass either".to_owned(),
        trials if passed == 0 => format!("none of {trials} further trials passed"),
        trials => format!("{passed} of {trials} further trials passed, so it may be flaky"),
    }
}

/// What is said of a test that did not fail and yet is more than a pass in view of its baseline.
pub(crate) fn notice(record: &CaseRecord) -> Option<String> {
    let name = &record.test_name;
    let baseline = record.baseline?;
    let (passed, trials) = (baseline.passed, format!("{} {}", baseline.trials, observations(record)));
    let shown = |value| shown_against(value, record.threshold);
    let score = record.score.map_or_else(|| "no score".to_owned(), |score| format!("score {}", shown(score)));
    let failed =
        format!("{score}, threshold {}; in the baseline, {passed} of {trials} passed", shown(record.threshold));
    match baseline.expectation {
        Expectation::ExpectedFailure => Some(format!("EXPECTED FAILURE {name}: {failed}")),
        Expectation::Quarantined => Some(format!("QUARANTINED {name}: {failed}")),
        Expectation::Unconfirmed => {
            let passed = record.confirming.iter().filter(|trial| trial.outcome == Status::Passed).count();
            let repeated = match record.confirming.len() {
                0 => "too few to tell this failure from chance: accept more runs, or run more trials".to_owned(),
                trials => format!("repeated, {passed} of {trials} passed"),
            };
            Some(format!("UNCONFIRMED {name}: {failed}; {repeated}"))
        }
        Expectation::NewPass => Some(format!(
            "NEW PASS {name}: {score}; in the baseline, none of {trials} passed; to keep it: `cargo evalsuite accept`"
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_in_several_processes_share_a_file() {
        let locks = tempfile::tempdir().unwrap();
        assert_eq!(repeated_cases(locks.path(), "shop").unwrap(), RepeatedCases::default());
        add_repeated_case(locks.path(), "shop", 4, false).unwrap();
        add_repeated_case(locks.path(), "shop", 10, true).unwrap();
        let found = repeated_cases(locks.path(), "shop").unwrap();
        let mut expected = RepeatedCases::default();
        expected.add(4, false);
        expected.add(10, true);
        assert_eq!(found, expected);
        assert_eq!(repeated_cases(locks.path(), "other").unwrap(), RepeatedCases::default());
        let failing = ["a", "b", "a"].map(|case| add_failing_case(locks.path(), "shop", case).unwrap());
        assert_eq!(failing, [1, 2, 2], "a case that a test runner repeats is one");
    }
}
