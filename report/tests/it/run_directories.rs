//! Run directories as they are found: whole, merged, torn, still running.

use std::fs;
use std::path::{Path, PathBuf};

use evalsuite_records::record::{ReasonCode, Status};
use evalsuite_report::{CaseData, RunData, earlier_runs};
use evalsuite_tests::synthetic_run::SyntheticRun;

fn run(root: &Path) -> PathBuf {
    SyntheticRun::new("run", 9, 2).write(root)
}

fn cases(run: &RunData) -> impl Iterator<Item = &CaseData> {
    run.suites.iter().flat_map(|suite| &suite.cases)
}

/// The directory of the first case of the first suite.
fn first_case(run: &Path) -> PathBuf {
    let data = RunData::read(run).unwrap();
    run.join(&data.suites[0].cases[0].directory)
}

#[test]
fn a_run_is_read_with_its_suites_cases_and_trials() {
    let root = tempfile::tempdir().unwrap();
    let data = RunData::read(run(root.path())).unwrap();
    assert_eq!(data.problems, []);
    assert_eq!((data.run_id.as_str(), data.in_use), ("run", false));
    assert_eq!(
        data.suites.iter().map(|suite| suite.name.as_str()).collect::<Vec<_>>(),
        ["refunds", "repair", "scheduling"]
    );
    assert_eq!(cases(&data).count(), 9);
    for case in cases(&data) {
        assert_eq!(case.trials.len(), case.record.trials.len());
        assert!(case.trials.iter().all(|trial| trial.record.case_id == case.record.case_id));
        assert!(root.path().join("runs/run").join(&case.trials[0].directory).join("result.json").is_file());
    }
    // In the order of `suite.json`.
    let ids: Vec<&str> = data.suites[0].cases.iter().map(|case| case.record.case_id.as_str()).collect();
    let tests = &data.suites[0].record.as_ref().unwrap().tests;
    assert_eq!(ids, tests.iter().map(|test| test.case_id.as_str()).collect::<Vec<_>>());
    assert!(cases(&RunData::read_cases(root.path().join("runs/run")).unwrap()).all(|case| case.trials.is_empty()));
}

#[test]
fn what_is_no_run_directory_is_an_error() {
    let root = tempfile::tempdir().unwrap();
    let error = RunData::read(root.path()).unwrap_err();
    assert!(error.to_string().ends_with(" is not a run directory"), "{error}");
}

#[cfg(unix)]
#[test]
fn what_an_agent_left_in_place_of_a_file_is_a_problem_and_is_not_read() {
    let root = tempfile::tempdir().unwrap();
    let run = run(root.path());
    let case = first_case(&run);
    let (log, record) = (case.join("trial-000/log.txt"), case.join("trial-001/result.json"));
    for file in [&log, &record] {
        let _ = fs::remove_file(file);
    }
    fs::write(root.path().join("secret"), "of somebody else").unwrap();
    std::os::unix::fs::symlink(root.path().join("secret"), &log).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&record).status().unwrap().success());
    let data = RunData::read(&run).unwrap();
    let says = |problems: &[evalsuite_report::Problem], file: &str, text: &str| {
        problems.iter().any(|problem| problem.file.ends_with(file) && problem.message.contains(text))
    };
    assert!(says(&data.problems, "trial-001/result.json", "is a named pipe"), "{:?}", data.problems);
    let written = evalsuite_report::HtmlReport::new(data).write_file(&root.path().join("report.html")).unwrap();
    assert!(says(&written.problems, "trial-000/log.txt", "is a symbolic link"), "{:?}", written.problems);
}

#[test]
fn a_torn_trial_keeps_what_its_case_knows_of_it() {
    let root = tempfile::tempdir().unwrap();
    let run = run(root.path());
    let case = first_case(&run);
    fs::write(case.join("trial-000/result.json"), "{\"schema\": \"evalsu").unwrap();
    fs::remove_file(case.join("trial-001/result.json")).unwrap();
    let data = RunData::read(&run).unwrap();
    let case = &data.suites[0].cases[0];
    for (trial, summary) in case.trials.iter().zip(&case.record.trials) {
        assert_eq!((trial.record.outcome, trial.record.score), (summary.outcome, summary.score));
        assert_eq!(trial.record.reason.as_ref().unwrap().code, ReasonCode::ProcessDied);
    }
    let problems: Vec<String> = data.problems.iter().map(|it| format!("{}: {}", it.file, it.message)).collect();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(
        problems[0].starts_with("suites/refunds-00000000/cases/") && problems[0].contains("trial-000/result.json: EOF")
    );
    assert!(problems[1].ends_with("trial-001/result.json: is missing"), "{problems:?}");
}

#[test]
fn a_case_whose_process_died_is_an_error_with_the_trials_that_ended() {
    let root = tempfile::tempdir().unwrap();
    let run = run(root.path());
    let case = first_case(&run);
    let whole = RunData::read(&run).unwrap().suites[0].cases[0].clone();
    fs::remove_file(case.join("case.json")).unwrap();
    fs::remove_file(case.join("trial-001/result.json")).unwrap();
    let started = format!(
        r#"{{"schema":"evalsuite.started/1","run_id":"run","suite":"refunds","case_id":"{}","target":"default","trial":1,"pid":77,"lock":"locks/x.lock","started_at":"2026-11-22T14:25:51.000Z"}}"#,
        whole.record.case_id
    );
    fs::write(case.join("trial-001/started.json"), &started).unwrap();
    let data = RunData::read(&run).unwrap();
    let died = cases(&data).find(|case| case.record.case_id == whole.record.case_id).unwrap();
    assert_eq!((died.record.outcome, died.trials.len(), died.record.planned), (Status::Error, 2, 2));
    assert_eq!(died.record.reason.as_ref().unwrap().message, "process 77 died in trial 1");
    assert_eq!(died.record.location, whole.record.location);
    let outcomes = died.trials.iter().map(|trial| trial.record.outcome);
    assert_eq!(outcomes.collect::<Vec<_>>(), [whole.trials[0].record.outcome, Status::Error]);

    // Without any trial that ended, only what `started.json` says is known.
    fs::remove_file(case.join("trial-000/result.json")).unwrap();
    let data = RunData::read(&run).unwrap();
    let died = cases(&data).find(|case| case.record.case_id == whole.record.case_id).unwrap();
    assert_eq!((died.record.suite.as_str(), died.record.target.as_str(), died.trials.len()), ("refunds", "default", 1));
}

#[test]
fn of_several_runner_attempts_the_last_one_counts() {
    let root = tempfile::tempdir().unwrap();
    let run = run(root.path());
    let case = first_case(&run);
    let again = case.with_file_name(format!("{}.attempt-2", case.file_name().unwrap().to_str().unwrap()));
    copy(&case, &again);
    let record = fs::read_to_string(again.join("case.json")).unwrap();
    fs::write(again.join("case.json"), record.replace("\"runner_attempt\": 1", "\"runner_attempt\": 2")).unwrap();
    let data = RunData::read(&run).unwrap();
    assert_eq!(cases(&data).count(), 9);
    let case = cases(&data).find(|case| !case.other_attempts.is_empty()).unwrap();
    let before = &case.other_attempts[0];
    assert_eq!((case.record.runner_attempt, case.name.attempt, before.record.runner_attempt), (2, 2, 1));
    assert!(
        case.trials[0].directory.starts_with(&case.directory)
            && case.directory.to_str().unwrap().ends_with(".attempt-2")
    );
}

#[test]
fn runs_that_started_earlier_are_its_history() {
    let root = tempfile::tempdir().unwrap();
    let mut last = None;
    // Ids say nothing about the order.
    for (id, day) in [("d", 1), ("a", 2), ("c", 3), ("b", 4)] {
        let mut run = SyntheticRun::new(id, 3, 1);
        run.started_at = format!("2026-11-0{day}T00:00:00.000Z");
        last = Some(run.write(root.path()));
    }
    fs::create_dir_all(root.path().join("runs/torn/suites")).unwrap();
    let last = RunData::read(last.unwrap()).unwrap();
    let ids = |count| earlier_runs(&last, count).unwrap().into_iter().map(|run| run.run_id).collect::<Vec<_>>();
    assert_eq!(ids(10), ["d", "a", "c"]);
    assert_eq!(ids(2), ["a", "c"]);
    assert_eq!(ids(0), Vec::<String>::new());
}

#[test]
fn a_run_of_an_example_has_nothing_that_cannot_be_read() {
    // Records as evalsuite itself writes them, recorded from the card agent.
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/card-agent-run");
    let data = RunData::read(fixture).unwrap();
    assert_eq!(data.problems, []);
    let case = cases(&data).next().unwrap();
    assert_eq!((case.record.case_id.as_str(), case.trials[0].record.graders.len()), ("pos_laptop_v1", 5));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
