//! `cargo evalsuite finish`, run as a program. What it does to real runs is tested with real test programs.

use crate::package::{Package, TASK};
use evalsuite_records::record::{CaseRecord, RunRecord, Status, SuiteRun, TrialRecord};
use evalsuite_schema::json::{json, to_string};
use evalsuite_tests::synthetic_run::SyntheticRun;

/// The record of a run with suites in these directories.
fn run_json(suites: &[&str]) -> String {
    let mut run = RunRecord::new();
    run.started_at = "2026-01-04T09:15:00Z".to_owned();
    let entry = |directory: &&str| {
        let mut suite = SuiteRun::new(*directory, "p", 1);
        (*directory).clone_into(&mut suite.directory);
        suite
    };
    run.suites = suites.iter().map(entry).collect();
    to_string(&run).unwrap()
}

#[test]
fn an_unknown_run_is_said_to_be_unknown() {
    let package = Package::new(&[("suites/card_agent/tasks/a.json", TASK)]);
    package.write("src/lib.rs", "");
    let output = package.run(&["finish"]);
    assert_eq!(output.code, 2, "{}", output.err);
    assert!(output.err.contains("there are no runs in "), "{}", output.err);
    assert!(output.err.contains("\n  = help: `cargo evalsuite run` creates one; "), "{}", output.err);
    let output = package.run(&["finish", "20260104T091500Z-4be1f0"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains("there is no run `20260104T091500Z-4be1f0` in "), "{}", output.err);
    assert_eq!(package.run(&["finish", "a", "b"]).code, 2);
}

#[test]
fn runs_that_were_probably_meant_are_named() {
    let package = Package::new(&[("elsewhere/suites/s/suite.json", "{}")]);
    for id in ["20260104T091500Z-4be1f0", "20260105T101500Z-77aa12"] {
        SyntheticRun::new(id, 2, 1).write(&package.root().join("out"));
    }
    for (named, help) in [
        ("4be1f0", "did you mean `20260104T091500Z-4be1f0`?"),
        ("20260104", "did you mean `20260104T091500Z-4be1f0`?"),
        ("20260105T101500Z-77aa21", "did you mean `20260105T101500Z-77aa12`?"),
        ("lates", "the newest run is `20260105T101500Z-77aa12`; `cargo evalsuite list --runs` shows the others"),
        ("elsewhere", "for the directory, write `./elsewhere`"),
    ] {
        let output = package.run_in_output(&["report", named]);
        assert_eq!(output.code, 2);
        let ends = format!("/out/runs\n  = help: {help}\n");
        assert!(output.err.starts_with(&format!("error: there is no run `{named}` in ")), "{}", output.err);
        assert!(output.err.ends_with(&ends), "{}", output.err);
    }
    let output = package.run_in_output(&["report", "ot/runs"]);
    assert_eq!((output.code, output.err.lines().next()), (2, Some("error: `ot/runs` does not exist")));
    let output = package.run_in_output(&["report", "out/runs"]);
    assert_eq!(output.err, "error: `out/runs` is not the directory of a run\n");
}

#[test]
fn a_run_without_hooks_is_summed_up() {
    let package = Package::new(&[]);
    package.write("runs/r/run.json", &run_json(&["s"]));
    package.write("runs/r/suites/s/suite.json", r#"{"schema": "evalsuite.suite/1", "name": "s", "kind": "mixed", "layout": "cases", "digest": "", "tests": []}"#);
    let output = package.run(&["finish", "runs/r"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.starts_with("no hooks were left to run\n"), "{}", output.out);
    assert!(package.root().join("runs/r/summary.json").is_file());
}

#[test]
fn what_died_and_what_was_not_started_is_counted_and_named() {
    let package = Package::new(&[]);
    let test = |name: &str| format!(r#"{{"program": "p", "test_name": "evals::{name}", "case_id": "{name}"}}"#);
    let tests = ["a", "b", "c"].map(test).join(", ");
    package.write("runs/r/run.json", &run_json(&["s"]));
    package.write("runs/r/suites/s/suite.json", &format!(r#"{{"schema": "evalsuite.suite/1", "name": "s", "kind": "mixed", "layout": "cases", "digest": "", "tests": [{tests}]}}"#));
    package.write(
        "runs/r/suites/s/cases/a-12345678/trial-000/started.json",
        r#"{"schema": "evalsuite.started/1", "run_id": "r", "suite": "s", "case_id": "a", "target": "default", "trial": 0, "pid": 1, "lock": "locks/a-12345678.lock", "started_at": "2026-01-04T09:15:00Z"}"#,
    );
    package.write("runs/r/suites/s/cases/a-12345678/trial-000/.result.json.0123456789abcdef.tmp", "{");
    let output = package.run(&["finish", "runs/r"]);
    assert_eq!(output.code, 1, "{}", output.out);
    for line in [
        "s: evaluation error (agent/process_died): case `a` (target `default`)  process 1 died in trial 0\n",
        "s: 1 case without a record\n",
        "s: 2 tests not chosen or not started: evals::b, evals::c\n",
    ] {
        assert!(output.out.contains(line), "{line} is missing in {}", output.out);
    }
    let trial = package.root().join("runs/r/suites/s/cases/a-12345678/trial-000");
    // All trials ended, and then the process died.
    let mut record = TrialRecord::new();
    (record.suite, record.case_id, record.target) = ("s".to_owned(), "a".to_owned(), "default".to_owned());
    std::fs::write(trial.join("result.json"), to_string(&record).unwrap()).unwrap();
    let output = package.run(&["finish", "runs/r"]);
    assert_eq!(output.code, 1, "{}", output.out);
    assert!(output.out.contains("case `a` (target `default`)  process 1 died after trial 0\n"), "{}", output.out);
    std::fs::remove_file(trial.join("result.json")).unwrap();
    assert_eq!(std::fs::read_dir(trial).unwrap().count(), 1, "the temporary file is removed");
}

#[test]
fn a_run_whose_tests_are_still_running_is_not_finished() {
    let package = Package::new(&[]);
    package.write("runs/r/locks/run.lock", "");
    package.write("runs/r/run.json", "{}");
    let lock = std::fs::File::options().write(true).open(package.root().join("runs/r/locks/run.lock")).unwrap();
    lock.lock().unwrap();
    let output = package.run(&["finish", "runs/r"]);
    let expected = "error: tests of run `r` are still running\n";
    assert_eq!((output.code, output.out.as_str(), output.err.as_str()), (2, "", expected));
    assert!(!package.root().join("runs/r/summary.json").exists());
}

#[test]
fn tests_that_were_not_started_have_an_exit_status_of_their_own() {
    let package = Package::new(&[]);
    let test = r#"{"program": "p", "test_name": "evals::a", "case_id": "a"}"#;
    package.write("runs/r/run.json", &run_json(&["s"]));
    package.write("runs/r/suites/s/suite.json", &format!(r#"{{"schema": "evalsuite.suite/1", "name": "s", "kind": "mixed", "layout": "cases", "digest": "", "tests": [{test}]}}"#));
    let output = package.run(&["finish", "runs/r"]);
    assert_eq!(output.code, 4, "{}", output.out);
    assert!(output.out.contains("s: 1 test not chosen or not started: evals::a\n"), "{}", output.out);
    let output = package.run(&["report", "runs/r"]);
    assert!(output.out.ends_with("s: 1 test not chosen or not started: evals::a\n"), "{}", output.out);
}

#[test]
fn tests_that_were_not_chosen_are_told_from_tests_that_were_not_started() {
    let package = Package::new(&[]);
    let test = |name: &str| {
        format!(r#"{{"program": "p", "test_name": "evals::{name}", "case_id": "{name}", "module": "p::evals"}}"#)
    };
    let tests = ["a", "b"].map(test).join(", ");
    package.write("runs/r/run.json", &run_json(&["s"]));
    package.write("runs/r/suites/s/suite.json", &format!(r#"{{"schema": "evalsuite.suite/1", "name": "s", "package": "p", "kind": "mixed", "layout": "cases", "digest": "", "tests": [{tests}]}}"#));
    let chosen = |tests: &str| {
        let text = format!(r#"{{"schema": "evalsuite.chosen/1", "tests": {{"p": {{"p::evals": [{tests}]}}}}}}"#);
        package.write("runs/r/chosen.json", &text);
        package.run(&["finish", "runs/r"])
    };
    let output = chosen(r#""evals::b""#);
    assert_eq!(output.code, 4, "{}", output.out);
    assert!(output.out.ends_with("\ns: 1 test not started: evals::b\n"), "{}", output.out);
    let report = package.run(&["report", "runs/r"]);
    assert!(report.out.ends_with("\ns: 1 test not started: evals::b\n"), "{}", report.out);
    let output = chosen("");
    assert_eq!((output.code, output.out.contains("not started")), (0, false), "{}", output.out);

    // The test program of another suite died before its first test.
    let other =
        r#"{"schema": "evalsuite.chosen/1", "tests": {"p": {"p::evals": []}, "q": {"q::other": ["other::z"]}}}"#;
    package.write("runs/r/chosen.json", other);
    let output = package.run(&["finish", "runs/r"]);
    assert_eq!(output.code, 4, "{}", output.out);
    let not_started = "\nq (q::other): 1 test not started: other::z\n";
    assert!(output.out.ends_with(not_started), "{}", output.out);
    let report = package.run(&["report", "runs/r", "--junit", "junit.xml"]);
    assert_eq!(report.code, 0, "{}", report.err);
    let xml = std::fs::read_to_string(package.root().join("junit.xml")).unwrap();
    let skipped = "<testcase name=\"other::z\" classname=\"q (q::other)\" time=\"0.000\">\n            <skipped message=\"the test `other::z` did not start\">";
    assert!(xml.contains(skipped), "{xml}");
    let annotations = package.run(&["report", "runs/r", "--format", "github"]);
    assert!(
        annotations.out.contains("::error title=q (q%3A%3Aother)::1 test not started: other::z\n"),
        "{}",
        annotations.out
    );
    package.write("runs/r/chosen.json", "{");
    let output = package.run(&["finish", "runs/r"]);
    assert_eq!(output.code, 1, "{}", output.out);
    assert!(output.err.contains("chosen.json: EOF"), "{}", output.err);
    assert!(output.out.contains("s: 2 tests not chosen or not started: evals::a, evals::b\n"), "{}", output.out);
}

#[test]
fn a_case_with_a_record_has_started_although_the_record_of_its_suite_is_damaged() {
    let package = Package::new(&[]);
    let chosen = r#"{"schema": "evalsuite.chosen/1", "tests": {"p": {"p::evals": ["evals::a"]}, "q": {"q::evals": ["evals::a"]}}}"#;
    package.write("runs/r/chosen.json", chosen);
    package.write("runs/r/suites/s/suite.json", "{");
    let mut case = CaseRecord::new();
    case.identity.suite = "s".to_owned();
    case.identity.case_id = "a".to_owned();
    case.identity.test_name = "evals::a".to_owned();
    (case.module, case.outcome) = ("p::evals".to_owned(), Status::Passed);
    package.write("runs/r/suites/s/cases/a-12345678/case.json", &to_string(&case).unwrap());
    for run in [run_json(&["s"]), "{".to_owned()] {
        package.write("runs/r/run.json", &run);
        let output = package.run(&["finish", "runs/r"]);
        assert_eq!(output.code, 1, "{}{}", output.out, output.err);
        assert!(output.out.contains("q (q::evals): 1 test not started: evals::a\n"), "{}", output.out);
        assert!(!output.out.contains("p (p::evals)"), "{}", output.out);
    }
}

/// A run whose `run.json` could not be read, or of which a whole suite was lost, was finished with success, and met the gates of the others.
#[test]
fn a_record_of_the_run_that_is_lost_is_a_problem() {
    let package = Package::new(&[]);
    let suite = |name: &str| {
        format!(
            r#"{{"schema": "evalsuite.suite/1", "name": "{name}", "kind": "mixed", "layout": "cases", "digest": "", "tests": []}}"#
        )
    };
    package.write("runs/r/suites/s/suite.json", &suite("s"));
    for (run, problem) in
        [(run_json(&["s", "t"]), "suites/t/suite.json: is missing"), ("{".to_owned(), "run.json: EOF")]
    {
        package.write("runs/r/run.json", &run);
        let output = package.run(&["finish", "runs/r"]);
        assert_eq!(output.code, 1, "{}{}", output.out, output.err);
        assert!(output.err.contains(problem), "{}", output.err);
        let output = package.run(&["finish", "runs/r", "--format", "json"]);
        let problems = &package.json("finish", &output.out)["problems"];
        assert!(problems[0].as_str().is_some_and(|found| found.contains(problem)), "{problems}");
        let output = package.run(&["gate", "runs/r", "--require", "cost <= 1"]);
        assert!(output.code == 4 && output.out.contains(&problem.replace(':', "")), "{}{}", output.out, output.err);
    }
    package.write("runs/r/run.json", &run_json(&["s"]));
    assert_eq!(package.run(&["finish", "runs/r"]).code, 0);
}

#[test]
fn the_finished_run_is_printed_as_json() {
    let package = Package::new(&[]);
    let test = r#"{"program": "p", "test_name": "evals::a", "case_id": "a"}"#;
    package.write("runs/r/run.json", &run_json(&["s"]));
    package.write("runs/r/suites/s/suite.json", &format!(r#"{{"schema": "evalsuite.suite/1", "name": "s", "kind": "mixed", "layout": "cases", "digest": "", "tests": [{test}]}}"#));
    let output = package.run(&["finish", "runs/r", "--format", "json"]);
    assert_eq!(output.code, 4, "{}", output.err);
    let finished = package.json("finish", &output.out);
    assert_eq!((&finished["run_id"], &finished["hooks"]), (&json!("r"), &json!(0)), "{finished}");
    let suite = json!({
        "suite": "s", "passed": 0, "failed": 0, "error": 0, "skipped": 0,
        "trials": 0, "trial_errors": 0, "passed_with_failed_grader": 0, "problems": [], "not_started": ["evals::a"],
    });
    assert_eq!(finished["suites"], json!([suite]));
    assert!(finished["summary"].as_str().is_some_and(|path| path.ends_with("runs/r/summary.json")), "{finished}");
    assert_eq!(package.run(&["finish", "runs/r", "--format", "json", "--partial"]).code, 0);
}
