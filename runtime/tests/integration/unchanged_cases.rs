//! Cases that take their result from an earlier run, because nothing that it depends on has changed.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex};

use evalsuite::{AgentError, Evals, Report, RunOptions, Status, Trial};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, run_with, suite, suite_with};

/// A suite in a directory, and the cases for which the agent was called.
struct Changing {
    directory: tempfile::TempDir,
    called: Arc<Mutex<Vec<String>>>,
}

impl Changing {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), called: Arc::default() }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Runs the cases that have changed; returns the report, and for which cases the agent was called.
    fn run(&self, id: &str, cases: &[Value], options: RunOptions) -> (Report, Vec<String>) {
        let called = Arc::clone(&self.called);
        let agent = move |trial: &mut Trial<'_>| -> Result<&'static str, AgentError> {
            called.lock().unwrap().push(trial.case_id().to_owned());
            if trial.case_id() == "broken" { Err(AgentError::new("broken")) } else { Ok("hello") }
        };
        let evals = Evals::new(suite("cases", "mixed", self.path(), cases)).with_agent(agent);
        let options = options.with_run_id(id).with_only_changed(true).with_concurrency(NonZeroUsize::MIN);
        let report = run_with(&evals, &self.path().join("out"), options);
        let mut called = std::mem::take(&mut *self.called.lock().unwrap());
        called.sort();
        (report, called)
    }
}

fn version(digest: &str) -> RunOptions {
    RunOptions::new().with_agent_digest(digest)
}

fn case(id: &str, text: &str, more: Value) -> Value {
    case_json(id, json!([contains(text)]), more)
}

#[test]
fn only_cases_that_changed_run_again() {
    let changing = Changing::new();
    let cases = |text: &str| {
        let second = case("second", "hello", json!({"depends_on": ["first"]}));
        [case("first", text, json!({})), second, case("fails", "bye", json!({})), case("broken", "x", json!({}))]
    };
    let all = ["broken", "fails", "first", "second"];
    assert_eq!(changing.run("1", &cases("hello"), version("v1")).1, all, "there is no earlier run");
    let (report, called) = changing.run("2", &cases("hello"), version("v1"));
    assert_eq!(called, ["broken"], "an error is no result");
    let reused = |report: &Report| -> Vec<Option<String>> {
        report.cases().iter().map(|case| case.record().reused_run.clone()).collect()
    };
    let first = || Some("1".to_owned());
    assert_eq!(reused(&report), [first(), first(), first(), None]);
    let outcomes: Vec<Status> = report.cases().iter().map(|case| case.status()).collect();
    assert_eq!(outcomes, [Status::Passed, Status::Passed, Status::Failed, Status::Error]);
    let case = &report.cases()[0];
    assert_eq!((case.record().run_id.as_str(), case.trials()[0].run_id.as_str()), ("2", "2"));
    assert_eq!(case.trials()[0].reused_run.as_deref(), Some("1"));
    assert_eq!(case.trials()[0].answer.as_deref(), Some("hello"));
    assert!(case.directory().join("trial-000/evidence.json").is_file(), "with the files beside the record");
    let shown = report.to_string();
    assert!(shown.contains("\n  reused   3 unchanged cases of earlier runs;"), "{shown}");
    assert_eq!(
        evalsuite_records::summary::summarize_run(&changing.path().join("out/runs/2")).unwrap().suites[0].targets[0]
            .reused,
        3
    );

    let (report, called) = changing.run("3", &cases("hell"), version("v1"));
    assert_eq!(called, ["broken", "first", "second"], "the grader of `first`, on which `second` depends");
    assert_eq!(reused(&report)[2], first(), "the run that made the result, not the one that took it over");
    assert_eq!(changing.run("4", &cases("hell"), version("v2")).1, all, "the agent");
    assert_eq!(changing.run("5", &cases("hello"), version("v1")).1, ["broken"], "everything is as it was in run 1");
    let twice = version("v1").with_trials(NonZeroUsize::new(2).unwrap());
    assert!(changing.run("6", &cases("hello"), twice).1.contains(&"first".to_owned()), "more trials");
}

#[test]
fn files_beside_a_case_belong_to_it() {
    let changing = Changing::new();
    let own = |id: &str| {
        let directory = changing.path().join("suites/x").join(id);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("check.py"), "print(1)").unwrap();
        let location = json!({"file": format!("suites/x/{id}/case.yaml"), "line": 1, "column": 1});
        case(id, "hello", json!({"location": location, "dir": format!("suites/x/{id}")}))
    };
    let cases = [own("a"), own("b")];
    assert_eq!(changing.run("1", &cases, version("v")).1, ["a", "b"]);
    fs::write(changing.path().join("suites/x/a/case.yaml"), "# a comment\n").unwrap();
    assert_eq!(changing.run("2", &cases, version("v")).1, [] as [&str; 0], "what counts in it is in its digests");
    fs::write(changing.path().join("suites/x/a/check.py"), "print(2)").unwrap();
    assert_eq!(changing.run("3", &cases, version("v")).1, ["a"]);
}

#[test]
fn without_a_digest_of_the_agent_nothing_is_reused() {
    let changing = Changing::new();
    let evals = || Evals::new(suite("cases", "mixed", changing.path(), &[case("a", "hello", json!({}))]));
    let evals = evals().with_agent(async |_: &mut Trial<'_>| anyhow::Ok("hello"));
    let report = run_with(&evals, &changing.path().join("out"), RunOptions::new().with_run_id("1"));
    assert_eq!(report.cases()[0].record().conditions, None);
    let (_, called) = changing.run("2", &[case("a", "hello", json!({}))], version("v"));
    assert_eq!(called, ["a"], "nobody knows which agent it was");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let refused = runtime.block_on(evals.run(&RunOptions::new().with_only_changed(true))).unwrap_err();
    assert_eq!(refused.to_string(), "without a digest of the agent, a change of the agent cannot be detected");
}

#[test]
fn a_damaged_record_of_an_earlier_run_is_no_result_and_no_error() {
    for file in ["case.json", "trial-000/result.json"] {
        let changing = Changing::new();
        // Files beside a single case would be its own.
        let cases = ["a", "b"].map(|id| case(id, "hello", json!({})));
        let (report, _) = changing.run("1", &cases, version("v"));
        fs::write(report.cases()[0].directory().join(file), "{\"schema\": \"evalsuite.ca").unwrap();
        let (report, called) = changing.run("2", &cases, version("v"));
        assert_eq!(called, ["a"], "{file}");
        assert_eq!((report.problems().len(), report.count(Status::Passed)), (0, 2), "{file}: {report}");
        assert_eq!(changing.run("3", &cases, version("v")).1, [""; 0], "run 2 has the result: {file}");
    }
}

#[test]
fn a_case_runs_again_if_its_commands_are_sealed_now() {
    let directory = tempfile::tempdir().unwrap();
    let run = |id: &str, sealed: Value| {
        let cases = ["one", "two"].map(|id| case(id, "hello", json!({})));
        let agent = |_: &mut Trial<'_>| Ok::<_, AgentError>("hello");
        let evals = Evals::new(suite_with("cases", "mixed", directory.path(), &cases, json!({"sealed": sealed})));
        let options = version("v1").with_run_id(id).with_only_changed(true);
        let report = run_with(&evals.with_agent(agent), &directory.path().join("out"), options);
        report.cases()[0].record().reused_run.clone()
    };
    assert_eq!(run("1", Value::Null), None);
    assert_eq!(run("2", Value::Null).as_deref(), Some("1"));
    assert_eq!(run("3", json!("auto")), None, "the commands of that run had the rights of the user");
    assert_eq!(run("4", json!("auto")).as_deref(), Some("3"));
}
