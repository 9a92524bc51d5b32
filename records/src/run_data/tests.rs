//! Tests with cases that have no record.

use std::fs;
use std::path::Path;

use evalsuite_schema::SuiteKind;

use super::{ReadDepth, RunData, SuiteData, suites_of};
use crate::file_lock::FileLock;
use crate::record::{CaseRecord, Started, Status, SuiteRecord, SuiteTest, TrialRecord, TrialSummary};

const CASE: &str = "suites/s/cases/c-12345678.attempt-2";

fn started(trial: u32) -> Started {
    let mut started = Started::new();
    (started.run_id, started.suite, started.case_id) = ("r".to_owned(), "s".to_owned(), "c".to_owned());
    (started.target, started.trial, started.pid) = ("default".to_owned(), trial, 1);
    started.lock = "locks/c-12345678.lock".to_owned();
    started
}

fn write(run: &Path, file: &str, record: &impl serde::Serialize) {
    let file = run.join(file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, serde_json::to_vec(record).unwrap()).unwrap();
}

fn suite(run: &Path) -> SuiteData {
    suites_of(run, ReadDepth::Cases).unwrap().0.into_iter().next().unwrap()
}

#[test]
fn a_trial_without_a_record_is_an_error_only_if_its_process_died() {
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path();
    write(run, &format!("{CASE}/trial-000/started.json"), &started(0));
    let lock = FileLock::acquire(&run.join("locks/c-12345678.lock")).unwrap();
    let running = suite(run);
    assert_eq!((running.name.as_str(), running.cases.len(), running.running.len()), ("s", 0, 1));
    assert_eq!(running.problems[0].sentence(), "case `c` (target `default`) is still running in process 1");
    drop(lock);
    let dead = suite(run);
    let sentence = "evaluation error (agent/process_died): case `c` (target `default`)  process 1 died in trial 0";
    assert_eq!(dead.problems[0].sentence(), sentence);
    let record = &dead.cases[0].record;
    assert_eq!((record.outcome, record.errors, record.runner_attempt), (Status::Error, 1, 2));
    assert_eq!(record.trials[0].path, "trial-000/result.json");
    assert!(!run.join("locks/other.lock").exists(), "asking for a lock makes none");
}

#[test]
fn trials_that_ended_before_the_process_died_keep_their_outcomes() {
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path();
    let mut trial = TrialRecord::new();
    (trial.suite, trial.case_id, trial.outcome) = ("s".to_owned(), "c".to_owned(), Status::Passed);
    write(run, &format!("{CASE}/trial-000/started.json"), &started(0));
    write(run, &format!("{CASE}/trial-000/result.json"), &trial);
    assert_eq!(suite(run).problems[0].message, "process 1 died after trial 0");
    write(run, &format!("{CASE}/trial-001/started.json"), &started(1));
    let mut tests = SuiteRecord::new();
    tests.name = "s".to_owned();
    (tests.kind, tests.digest) = (SuiteKind::Regression, "d".to_owned());
    tests.tests = vec![SuiteTest::new("p", "evals::b", "b"), SuiteTest::new("p", "evals::c", "c")];
    write(run, "suites/s/suite.json", &tests);
    let case = suite(run).cases.remove(0);
    let record = &case.record;
    assert_eq!((record.outcome, record.passed, record.completed, record.errors), (Status::Error, 1, 1, 1));
    assert_eq!((record.test_name.as_str(), case.trials.len()), ("evals::c", 2));
    assert_eq!((record.kind, record.suite_digest.as_str()), (SuiteKind::Regression, "d"), "those of its suite");
}

#[test]
fn an_attempt_that_died_is_no_problem_once_another_one_has_ended() {
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path();
    let attempt = |number: u32| format!("suites/s/cases/c-12345678{}", if number > 1 { ".attempt-2" } else { "" });
    write(run, &format!("{}/trial-000/started.json", attempt(1)), &started(0));
    assert_eq!((suite(run).cases[0].record.outcome, suite(run).problems.len()), (Status::Error, 1));
    let mut record = CaseRecord::new();
    (record.suite, record.case_id, record.runner_attempt) = ("s".to_owned(), "c".to_owned(), 2);
    record.outcome = Status::Passed;
    write(run, &format!("{}/case.json", attempt(2)), &record);
    let suite = suite(run);
    assert_eq!((suite.cases.len(), suite.cases[0].record.outcome, suite.problems.len()), (1, Status::Passed, 0));
    assert_eq!(suite.cases[0].other_attempts[0].record.outcome, Status::Error);
}

#[test]
fn what_earlier_attempts_cost_is_counted() {
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path();
    for (name, attempt, cost) in [("c-12345678", 1, 0.25), ("c-12345678.attempt-2", 2, 0.5)] {
        let mut record = CaseRecord::new();
        (record.suite, record.case_id, record.runner_attempt) = ("s".to_owned(), "c".to_owned(), attempt);
        record.outcome = if attempt == 1 { Status::Failed } else { Status::Passed };
        let mut trial = TrialSummary::default();
        (trial.path, trial.cost_usd) = ("trial-000/result.json".to_owned(), Some(cost));
        record.trials = vec![trial];
        write(run, &format!("suites/s/cases/{name}/case.json"), &record);
    }
    let case = suite(run).cases.remove(0);
    assert!(case.is_flaky(), "an attempt failed");
    let costs = case.record.trials.iter().chain(case.record.uncounted_trials()).map(|trial| trial.cost_usd);
    assert_eq!(costs.collect::<Vec<_>>(), [Some(0.5), Some(0.25)]);
    assert_eq!(case.record.retried[0].path, "../c-12345678/trial-000/result.json");
}

#[test]
fn a_test_that_was_not_started_is_told_from_one_of_its_path_in_another_program() {
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path();
    let mut tests = SuiteRecord::new();
    tests.name = "s".to_owned();
    let programs = ["shop-000000000000000a", "shop-000000000000000b"];
    tests.tests = programs.map(|program| SuiteTest::new(program, "evals::c", "c")).to_vec();
    write(run, "suites/s/suite.json", &tests);
    let not_started = || suite(run).not_started();
    assert_eq!(not_started(), ["evals::c", "evals::c"], "once for each program");
    for (index, (name, program)) in ["c-12345678", "c-12345678.test-aaaaaaaa"].into_iter().zip(programs).enumerate() {
        let mut record = CaseRecord::new();
        (record.suite, record.case_id, record.outcome) = ("s".to_owned(), "c".to_owned(), Status::Passed);
        (record.test_name, record.program) = ("evals::c".to_owned(), program.to_owned());
        write(run, &format!("suites/s/cases/{name}/case.json"), &record);
        assert_eq!(not_started().len(), 1 - index, "{program} has run");
    }
}

/// The case of a run with an attempt of the test runner for each of these outcomes, with one trial each.
fn repeated(run: &Path, outcomes: &[Status]) -> RunData {
    for (number, outcome) in (1..).zip(outcomes) {
        let mut record = CaseRecord::new();
        (record.suite, record.case_id, record.runner_attempt) = ("s".to_owned(), "c".to_owned(), number);
        record.outcome = *outcome;
        let mut trial = TrialSummary::default();
        (trial.path, trial.cost_usd) = ("trial-000/result.json".to_owned(), Some(f64::from(number)));
        record.trials = vec![trial];
        let name = if number > 1 { format!("c-12345678.attempt-{number}") } else { "c-12345678".to_owned() };
        write(run, &format!("suites/s/cases/{name}/case.json"), &record);
        let mut trial = TrialRecord::of_case(&record);
        trial.outcome = *outcome;
        write(run, &format!("suites/s/cases/{name}/trial-000/result.json"), &trial);
    }
    RunData { suites: suites_of(run, ReadDepth::Trials).unwrap().0, ..RunData::default() }
}

#[test]
fn the_first_attempt_with_a_result_measures_the_agent() {
    use Status::{Error, Failed, Passed, Skipped};
    for (outcomes, measured) in [
        (&[Passed][..], 1),
        (&[Failed, Passed], 1),
        (&[Failed, Failed, Passed], 1),
        (&[Error, Failed, Passed], 2),
        (&[Error, Passed], 2),
        // A failure that is followed by errors is a result all the same.
        (&[Failed, Error], 1),
        (&[Error, Failed, Error], 2),
        // Without any result, the last one says why.
        (&[Error, Error], 2),
        (&[Error, Skipped], 2),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let read = repeated(directory.path(), outcomes);
        assert_eq!(read.suites[0].cases[0].name.attempt, u32::try_from(outcomes.len()).unwrap(), "{outcomes:?}");
        let once = read.measured().into_owned();
        for run in [&once, &once.clone().into_measured()] {
            let case = &run.suites[0].cases[0];
            assert_eq!((case.name.attempt, case.record.runner_attempt), (measured, measured), "{outcomes:?}");
            assert!(case.trials[0].directory.starts_with(&case.directory), "{outcomes:?}");
            let trials = case.record.trials.iter().chain(&case.record.retried);
            let mut costs: Vec<f64> = trials.filter_map(|trial| trial.cost_usd).collect();
            assert_eq!(costs[0], f64::from(measured), "{outcomes:?}");
            costs.sort_unstable_by(f64::total_cmp);
            let all: Vec<f64> = (1..).map(f64::from).take(outcomes.len()).collect();
            assert_eq!(costs, all, "what each attempt costs counts once: {outcomes:?}");
            assert_eq!(run.repeated_cases(), usize::from(outcomes.len() > 1), "{outcomes:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_record_that_cannot_be_read_is_a_case_that_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path();
    let key = crate::digest::case_key("s", "default", "c");
    let mut tests = SuiteRecord::new();
    (tests.name, tests.tests) = ("s".to_owned(), vec![SuiteTest::new("p", "evals::c", "c")]);
    write(run, "suites/s/suite.json", &tests);
    fs::create_dir_all(run.join("suites/s/cases").join(&key)).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", run.join("suites/s/cases").join(&key).join("case.json")).unwrap();
    let suite = suite(run);
    let record = &suite.cases[0].record;
    assert_eq!((record.case_id.as_str(), record.test_name.as_str(), record.outcome), ("c", "evals::c", Status::Error));
    assert!(suite.problems[0].message.contains("is a symbolic link"), "{:?}", suite.problems);
    // Its trial has ended, and nothing says that a process died.
    let trial = format!("suites/s/cases/{key}/trial-000");
    write(run, &format!("{trial}/started.json"), &started(0));
    write(run, &format!("{trial}/result.json"), &TrialRecord::new());
    let reason = self::suite(run).cases.remove(0).record.reason.expect("a reason");
    assert_eq!(reason.message, "the case has no record that can be read");
}

#[test]
fn a_record_of_another_version_is_not_read_as_one_of_this_version() {
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path();
    let key = crate::digest::case_key("s", "default", "c");
    let mut record = CaseRecord::new();
    (record.schema, record.outcome) = ("evalsuite.case/2".to_owned(), Status::Passed);
    write(run, &format!("suites/s/cases/{key}/case.json"), &record);
    let suite = suite(run);
    assert_eq!(suite.cases[0].record.outcome, Status::Error);
    let problem = &suite.problems[0].message;
    assert!(
        problem.contains("`schema` is `evalsuite.case/2`, and this version of evalsuite reads `evalsuite.case/1`"),
        "{problem}"
    );
}
