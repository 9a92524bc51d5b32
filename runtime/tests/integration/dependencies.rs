//! Cases that depend on others.

use std::collections::BTreeMap;
use std::fs::File;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{fs, thread};

use evalsuite::record::{ReasonCode, Stage};
use evalsuite::{AgentError, CaseReport, Evals, Evidence, Report, RunOptions, Status, Trial};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, grader, run_with, suite_with};

/// A case with its dependencies.
fn case(id: &str, depends_on: &[&str], more: Value) -> Value {
    let mut case = case_json(id, json!([contains("hello")]), json!({"depends_on": depends_on}));
    if let (Value::Object(case), Value::Object(more)) = (&mut case, more) {
        case.extend(more);
    }
    case
}

/// The ids of the agent's calls in their order.
type Calls = Arc<Mutex<Vec<String>>>;

/// An agent that says hello, but not in cases whose id begins with `bad`.
fn evals(directory: &Path, cases: &[Value], suite: Value) -> (Evals, Calls) {
    let calls = Calls::default();
    let noted = Arc::clone(&calls);
    let agent = move |trial: &mut Trial<'_>| -> Result<String, AgentError> {
        thread::sleep(Duration::from_millis(5));
        noted.lock().unwrap().push(trial.case_id().to_owned());
        Ok(format!("{} from {}", if trial.case_id().starts_with("bad") { "goodbye" } else { "hello" }, trial.case_id()))
    };
    (Evals::new(suite_with("cases", "mixed", directory, cases, suite)).with_agent(agent), calls)
}

fn ids(calls: &Calls) -> Vec<String> {
    calls.lock().unwrap().clone()
}

fn of<'a>(report: &'a Report, id: &str) -> &'a CaseReport {
    assert_eq!(report.problems(), &[] as &[String]);
    report.cases().iter().find(|case| case.case().id() == id).unwrap()
}

fn concurrency(cases: usize) -> RunOptions {
    RunOptions::new().with_concurrency(NonZeroUsize::new(cases).unwrap())
}

#[test]
fn a_dependency_runs_first_and_once_whatever_the_order_of_tests() {
    for threads in [1, 6] {
        let directory = tempfile::tempdir().unwrap();
        let cases = [
            case("end", &["left", "right"], json!({})),
            case("left", &["start"], json!({})),
            case("right", &["start"], json!({})),
            case("start", &[], json!({})),
        ];
        let (evals, calls) = evals(directory.path(), &cases, json!({"workers": 1}));
        let report = run_with(&evals, directory.path(), concurrency(threads));
        assert!(report.is_success(), "{report}");
        let calls = ids(&calls);
        assert_eq!((calls.len(), calls[0].as_str(), calls[3].as_str()), (4, "start", "end"), "{calls:?}");
        assert_eq!(report.cases().len(), 4, "every case is reported");
        let outcomes = BTreeMap::from([("left", Status::Passed), ("right", Status::Passed)]);
        let recorded = &of(&report, "end").trials()[0].dependencies;
        assert_eq!(recorded.iter().map(|(id, outcome)| (id.as_str(), *outcome)).collect::<BTreeMap<_, _>>(), outcomes);
        if threads == 1 {
            assert_eq!(of(&report, "start").record().requested_by.as_deref(), Some("end"));
            assert_eq!(of(&report, "start").trials()[0].requested_by.as_deref(), Some("end"));
            assert_eq!(of(&report, "end").record().requested_by, None);
        }
    }
}

#[test]
fn a_dependency_that_its_own_test_runs_again_is_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let cases = [case("start", &[], json!({})), case("end", &["start"], json!({}))];
    let (evals, _) = evals(directory.path(), &cases, json!({}));
    let options = |id: &str| RunOptions::new().with_run_id("again").with_filter(id);
    let report = run_with(&evals, directory.path(), options("start"));
    let start = of(&report, "start").directory();
    // As the test of `start` holds it while its records are moved away.
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let lock = format!("{}.{}.lock", name(start.parent().unwrap().parent().unwrap()), name(start));
    let lock = File::options().write(true).open(directory.path().join("runs/again/locks").join(lock)).unwrap();
    lock.lock().unwrap();
    let (record, moved) = (start.join("trial-000/result.json"), directory.path().join("moved.json"));
    fs::rename(&record, &moved).unwrap();
    thread::scope(|scope| {
        let end = scope.spawn(|| run_with(&evals, directory.path(), options("end")));
        thread::sleep(Duration::from_millis(200));
        fs::rename(&moved, &record).unwrap();
        drop(lock);
        let report = end.join().unwrap();
        assert!(report.is_success(), "{report}");
    });
}

#[test]
fn a_filter_does_not_leave_out_what_a_case_depends_on() {
    let directory = tempfile::tempdir().unwrap();
    let cases = [case("end", &["start"], json!({})), case("start", &[], json!({}))];
    let (evals, calls) = evals(directory.path(), &cases, json!({}));
    let report = run_with(&evals, directory.path(), RunOptions::new().with_filter("end"));
    assert_eq!((report.cases().len(), ids(&calls)), (1, vec!["start".to_owned(), "end".to_owned()]));
    assert!(report.is_success());
}

#[test]
fn what_happens_after_a_failed_dependency_is_for_the_case_to_say() {
    let directory = tempfile::tempdir().unwrap();
    let after = |id: &str, choice: &str| case(id, &["bad"], json!({"on_dependency_failure": choice}));
    let cases = [
        case("bad", &[], json!({})),
        after("skips", "skip"),
        after("fails", "fail"),
        after("runs", "run"),
        case("last", &["skips"], json!({})),
    ];
    let (evals, calls) = evals(directory.path(), &cases, json!({}));
    let report = run_with(&evals, directory.path(), concurrency(1));
    let end = |id: &str| {
        let record = of(&report, id).record();
        (record.outcome, record.reason.as_ref().map(|reason| (reason.stage, reason.code, reason.message.clone())))
    };
    let because = |message: &str| Some((Stage::Dependencies, ReasonCode::DependencyFailed, message.to_owned()));
    assert_eq!(end("skips"), (Status::Skipped, because("case `bad`, which it depends on, failed")));
    assert_eq!(end("fails"), (Status::Failed, because("case `bad`, which it depends on, failed")));
    assert_eq!(end("last"), (Status::Skipped, because("case `skips`, which it depends on, was skipped")));
    assert_eq!(end("runs"), (Status::Passed, None));
    assert_eq!(of(&report, "runs").trials()[0].dependencies["bad"], Status::Failed);
    assert_eq!(ids(&calls), ["bad", "runs"]);
    let text = of(&report, "fails").to_string();
    assert!(
        text.starts_with("evaluation failed: fails (x)  score –, case `bad`, which it depends on, failed\n"),
        "{text}"
    );
}

#[test]
fn agents_and_graders_see_what_a_dependency_came_to() {
    fn continues(trial: &mut Trial<'_>) -> Result<String, AgentError> {
        let Some(before) = trial.dependency("first") else { return Ok("hello".to_owned()) };
        assert!(trial.dependency("second").is_none());
        Ok(format!("{} again, {:?}", before.answer().unwrap_or_default(), before.status()))
    }
    fn knows(evidence: &Evidence<'_>) -> bool {
        evidence.dependency("first").is_none_or(|first| first.score() == Some(1.0))
    }
    let directory = tempfile::tempdir().unwrap();
    let graders = json!([contains("hello"), grader("knows", 8, json!({"user": {"grader": "knows", "config": {}}}))]);
    let cases = [
        case_json("first", graders.clone(), json!({})),
        case_json("second", graders, json!({"depends_on": ["first"]})),
    ];
    let evals = Evals::new(suite_with("cases", "mixed", directory.path(), &cases, json!({})));
    let report =
        run_with(&evals.with_agent(continues).with_grader("knows", knows), directory.path(), RunOptions::new());
    assert!(report.is_success(), "{report}");
    assert_eq!(of(&report, "second").trials()[0].answer.as_deref(), Some("hello again, Passed"));
}

#[test]
fn a_long_chain_of_dependencies_is_no_deep_recursion() {
    let directory = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..300).map(|number| format!("case-{number:03}")).collect();
    let cases: Vec<Value> = names
        .iter()
        .enumerate()
        .map(|(number, id)| {
            case_json(
                id,
                json!([contains("hello")]),
                json!({"depends_on": names.get(number + 1).map_or_else(Vec::new, |next| vec![next])}),
            )
        })
        .collect();
    let evals = Evals::new(suite_with("cases", "mixed", directory.path(), &cases, json!({})));
    let evals = evals.with_agent(async |_: &mut Trial<'_>| anyhow::Ok("hello"));
    let report = run_with(&evals, directory.path(), RunOptions::new().with_filter("case-000"));
    assert!(report.is_success(), "{report}");
}

#[test]
fn a_dependency_that_does_not_run_in_the_target_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let cases = [case("a", &["b"], json!({"matrix": "one"})), case("b", &[], json!({"matrix": "two"}))];
    let (evals, _) = evals(directory.path(), &cases, json!({}));
    let report = run_with(&evals, directory.path(), concurrency(1));
    let record = of(&report, "a").record();
    assert_eq!(record.outcome, Status::Error);
    assert_eq!(record.reason.as_ref().unwrap().message, "case `a` depends on `b`, which does not run in target `one`");
}

#[test]
fn an_own_run_of_a_dependency_after_it_was_told_is_a_new_one() {
    let directory = tempfile::tempdir().unwrap();
    let cases = [case("end", &["start"], json!({})), case("start", &[], json!({}))];
    let (evals, calls) = evals(directory.path(), &cases, json!({}));
    let run = |filter: &str| {
        let report = run_with(&evals, directory.path(), RunOptions::new().with_run_id("same").with_filter(filter));
        assert!(report.is_success(), "{report}");
        ids(&calls).len()
    };
    assert_eq!(run("end"), 2, "both");
    assert_eq!(run("start"), 2, "it tells of the record that is there");
    assert_eq!(run("start"), 3, "asked again it runs");
    assert_eq!(run("end"), 4, "what it depends on has a record");
}

#[test]
fn a_dependency_of_another_version_or_definition_runs_again() {
    let directory = tempfile::tempdir().unwrap();
    let cases = |text: &str| {
        let start = case_json("start", json!([contains(text)]), json!({}));
        [case("end", &["start"], json!({})), start]
    };
    let run = |filter: &str, version: &str, text: &str| {
        let (evals, calls) = evals(directory.path(), &cases(text), json!({}));
        let options = RunOptions::new().with_run_id("same").with_filter(filter).with_agent_digest(version);
        run_with(&evals, directory.path(), options);
        ids(&calls)
    };
    assert_eq!(run("end", "1", "hello"), ["start", "end"]);
    assert_eq!(run("start", "2", "hello"), ["start"], "its own test does not tell what another agent did");
    assert_eq!(run("end", "2", "hello"), ["end"]);
    assert_eq!(run("end", "1", "hello"), ["start", "end"], "nor does a case that depends on it use it");
    assert_eq!(run("start", "1", "hell"), ["start"], "another grader");
    assert_eq!(run("end", "1", "hell"), ["end"]);
}
