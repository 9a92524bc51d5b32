//! Lines for the shell of the system: `sh`, or `cmd` on Windows.

use std::fs;
use std::time::{Duration, Instant};

use evalsuite::record::GraderRecord;
use evalsuite::{CliAgents, Evals, Status, Trial};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, grader, only, run, suite};

/// The line for the shell of this system.
fn line(sh: &'static str, cmd: &'static str) -> &'static str {
    if cfg!(windows) { cmd } else { sh }
}

fn package(command: &str, cases: &[Value]) -> (Evals, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir_all(directory.path().join("suites/x")).unwrap();
    let targets = format!("targets:\n  - name: default\n    provider: cli\n    command: |-\n      {command}\n");
    fs::write(directory.path().join("targets.yaml"), targets).unwrap();
    (Evals::new(suite("cases", "mixed", directory.path(), cases)).with_agent(CliAgents), directory)
}

/// A case whose answer has to contain a text.
fn asking(prompt: &str, expected: &str) -> Value {
    let input = json!({"messages": [{"role": "user", "content": {"text": prompt}}]});
    case_json("c", json!([contains(expected)]), json!({"input": input}))
}

#[test]
fn an_agent_that_is_a_command_answers() {
    let command = line("cat {PROMPT_FILE} > {OUTPUT_FILE}", "type {PROMPT_FILE} > {OUTPUT_FILE}");
    let (evals, directory) = package(command, &[asking("say hello", "say hello")]);
    let report = run(&evals, &directory.path().join("out"));
    assert_eq!(only(&report).status(), Status::Passed, "{report:?}");
}

#[test]
fn a_shell_fills_in_no_variable_of_a_prompt() {
    let prompt = "100% of %PATH% & $HOME | (x) ^ !y!";
    let (evals, directory) = package("echo {PROMPT} > {OUTPUT_FILE}", &[asking(prompt, prompt)]);
    let report = run(&evals, &directory.path().join("out"));
    assert_eq!(only(&report).status(), Status::Passed, "{report:?}");
}

#[test]
fn a_prompt_of_several_lines_is_passed_whole_or_not_at_all() {
    let (evals, directory) = package("echo {PROMPT} > {OUTPUT_FILE}", &[asking("one\ntwo", "two")]);
    let report = run(&evals, &directory.path().join("out"));
    let case = only(&report);
    if cfg!(windows) {
        let reason = case.record().reason.as_ref().unwrap();
        assert!(reason.message.contains("has several lines") && reason.message.contains("{PROMPT_FILE}"), "{case}");
    } else {
        assert_eq!(case.status(), Status::Passed, "{case}");
    }
}

fn says_hello(_: &mut Trial<'_>) -> anyhow::Result<String> {
    Ok("hello".into())
}

/// The records of a case that a command grades.
fn graded(script: &str, timeout_seconds: f64) -> (Status, GraderRecord, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir_all(directory.path().join("suites/x")).unwrap();
    let config = json!({"run": {"command": {"shell": script}}, "timeout_seconds": timeout_seconds});
    let case = case_json("c", json!([grader("check", 7, json!({"code-grader": config}))]), json!({}));
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &[case])).with_agent(says_hello);
    let report = run(&evals, &directory.path().join("out"));
    let case = only(&report);
    (case.status(), case.trials()[0].graders[0].clone(), directory)
}

#[test]
fn a_shell_gets_the_line_of_a_grader_with_its_quotes() {
    let script = line(r#"echo '{"score": 1.0}'; echo "a b" >&2"#, r#"echo {"score": 1.0}& echo "a b" 1>&2"#);
    let (status, record, _directory) = graded(script, 60.0);
    assert_eq!(status, Status::Passed, "{record:?}");
    let stderr = record.command.unwrap().stderr.unwrap();
    assert!(stderr.starts_with("graders/check-") && stderr.ends_with("/stderr.txt"), "records have `/`: {stderr}");
}

#[test]
fn a_command_past_its_limit_ends_with_what_it_started() {
    let started = Instant::now();
    let script = line("sleep 100 & sleep 100", "start /B ping -n 100 127.0.0.1 >nul & ping -n 100 127.0.0.1 >nul");
    let (status, record, _directory) = graded(script, 1.0);
    assert!(status == Status::Error && record.command.unwrap().timed_out);
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}
