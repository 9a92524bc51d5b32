//! Cases that take their result from an earlier run, because nothing that it depends on has changed.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex};

use evalsuite::{AgentError, Evals, Report, RunOptions, Status, Trial};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, grader, run_with, suite, suite_with};

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

/// A case in a directory of its own.
fn in_own_directory(id: &str, more: Value) -> Value {
    let location = json!({"file": format!("suites/x/{id}/case.yaml"), "line": 1, "column": 1});
    let mut case = case(id, "hello", json!({"location": location, "dir": format!("suites/x/{id}")}));
    case.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    case
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[cfg(unix)]
#[test]
fn what_links_lead_to_counts() {
    let links = [
        ("suites/x/a", "../../elsewhere"),
        ("suites/x/a/check.sh", "../../../elsewhere/check.sh"),
        ("suites/x/a/more", "../../../elsewhere"),
        ("suites/x/template", "../../elsewhere"),
    ];
    for (link, destination) in links {
        let changing = Changing::new();
        let (script, link) = (changing.path().join("elsewhere/check.sh"), changing.path().join(link));
        write(&script, "exit 0");
        write(&changing.path().join("suites/x/b/note"), "");
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(destination, &link).unwrap();
        let template = json!({"workspace": {"template": {"written": "template", "path": "suites/x/template"}}});
        let more = if link.ends_with("template") { template } else { json!({}) };
        let cases = [in_own_directory("a", more), in_own_directory("b", json!({}))];
        assert_eq!(changing.run("1", &cases, version("v")).1, ["a", "b"]);
        assert_eq!(changing.run("2", &cases, version("v")).1, [""; 0], "{destination}");
        write(&script, "exit 1");
        assert_eq!(changing.run("3", &cases, version("v")).1, ["a"], "{destination}");
    }
}

#[cfg(unix)]
#[test]
fn a_case_with_a_link_around_its_directory_always_runs() {
    let changing = Changing::new();
    write(&changing.path().join("suites/x/b/note"), "");
    fs::create_dir_all(changing.path().join("suites/x/a")).unwrap();
    std::os::unix::fs::symlink("..", changing.path().join("suites/x/a/all")).unwrap();
    let cases = ["a", "b"].map(|id| in_own_directory(id, json!({})));
    assert_eq!(changing.run("1", &cases, version("v")).1, ["a", "b"]);
    assert_eq!(changing.run("2", &cases, version("v")).1, ["a"]);
}

#[test]
fn a_result_is_not_reused_if_something_changed_while_the_case_ran() {
    for changed in ["suites/x/a/check.sh", "suites/x/template/note"] {
        let changing = Changing::new();
        let file = changing.path().join(changed);
        write(&changing.path().join("suites/x/a/check.sh"), "before");
        write(&changing.path().join("suites/x/template/note"), "before");
        let template = json!({"workspace": {"template": {"written": "template", "path": "suites/x/template"}}});
        let case = in_own_directory("a", template);
        let run = |id: &str| {
            let (called, file) = (Arc::clone(&changing.called), file.clone());
            let agent = move |_: &mut Trial<'_>| {
                called.lock().unwrap().push(String::new());
                write(&file, "after");
                Ok::<_, AgentError>("hello")
            };
            let suite = suite("cases", "mixed", changing.path(), std::slice::from_ref(&case));
            let options = version("v").with_run_id(id).with_only_changed(true);
            run_with(&Evals::new(suite).with_agent(agent), &changing.path().join("out"), options);
            changing.called.lock().unwrap().len()
        };
        assert_eq!([run("1"), run("2"), run("3")], [1, 2, 2], "{changed}");
    }
}

#[cfg(unix)]
#[test]
fn scripts_that_commands_of_graders_name_count_wherever_they_are() {
    let script = json!({"path": {"written": "../graders/check.sh", "path": "suites/x/graders/check.sh"}});
    let graders = json!({"written": "graders", "path": "suites/x/graders"});
    let grader = |run: Value| grader("code", 7, json!({"code-grader": {"run": run}}));
    let code = |run: Value| json!({"graders": [grader(run)]});
    let in_directory = |cwd: &Value| grader(json!({"command": {"shell": "sh check.sh"}, "cwd": cwd}));
    let others = json!({"written": "others", "path": "suites/x/others"});
    let commands = [
        code(json!({"command": {"argv": [{"text": "sh"}, script]}})),
        code(json!({"command": {"argv": [{"text": "sh"}, {"text": "-c"}, {"text": "sh graders/check.sh"}]}})),
        code(json!({"command": {"shell": "sh graders/check.sh"}})),
        code(json!({"command": {"shell": "sh $EVALSUITE_SUITE_DIR/graders/check.sh"}})),
        json!({"graders": [in_directory(&others), in_directory(&graders)]}),
        json!({"preprocessors": [{"type": "pdf", "command": {"argv": [script]}}]}),
    ];
    for command in commands {
        let changing = Changing::new();
        let script = changing.path().join("suites/x/graders/check.sh");
        write(&script, "echo pass");
        write(&changing.path().join("suites/x/others/check.sh"), "echo pass");
        let cases = [case("a", "hello", command.clone()), case("b", "hello", json!({}))];
        assert_eq!(changing.run("1", &cases, version("v")).1, ["a", "b"]);
        assert_eq!(changing.run("2", &cases, version("v")).1, [""; 0], "{command}");
        write(&script, "echo pass # always");
        assert_eq!(changing.run("3", &cases, version("v")).1, ["a"], "{command}");
    }
}

#[cfg(all(unix, feature = "cli-agents"))]
#[test]
fn the_command_of_a_judge_and_the_script_that_it_names_count() {
    let directory = tempfile::tempdir().unwrap();
    let target = |name: &str, note: &str| {
        format!(
            "  - {{ name: {name}, provider: cli, command: \"sh $EVALSUITE_SUITE_DIR/judge.sh {{OUTPUT_FILE}} {note}\" }}\n"
        )
    };
    let targets = |kind: &str, other: &str| {
        let text = format!("targets:\n{}{}", target("kind", kind), target("other", other));
        write(&directory.path().join("targets.yaml"), &text);
    };
    let judge = |score: &str| {
        write(&directory.path().join("suites/x/judge.sh"), &format!("echo '{{\"score\": {score}}}' > $1"))
    };
    let judged = json!({"llm-grader": {"judge": {"target": "kind"}}});
    let cases = [
        case_json("judged", json!([grader("tone", 5, judged)]), json!({"criteria": "is polite"})),
        case("plain", "hello", json!({})),
    ];
    let run = |id: &str| {
        let agent = |_: &mut Trial<'_>| Ok::<_, AgentError>("hello");
        let evals = Evals::new(suite("cases", "mixed", directory.path(), &cases)).with_agent(agent);
        let options = version("v").with_run_id(id).with_only_changed(true);
        let report = run_with(&evals.with_command_judges(), &directory.path().join("out"), options);
        report.cases().iter().map(|case| (case.status(), case.record().reused_run.is_some())).collect::<Vec<_>>()
    };
    let (passed, failed) = (Status::Passed, Status::Failed);
    targets("", "");
    judge("1");
    assert_eq!(run("1"), [(passed, false), (passed, false)]);
    assert_eq!(run("2"), [(passed, true), (passed, true)]);
    judge("0");
    assert_eq!(run("3"), [(failed, false), (passed, true)]);
    targets("strict", "");
    assert_eq!(run("4"), [(failed, false), (passed, true)]);
    targets("strict", "unrelated");
    assert_eq!(run("5"), [(failed, true), (passed, true)]);
}
