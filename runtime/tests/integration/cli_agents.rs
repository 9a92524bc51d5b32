//! Agents that are commands of a targets file.

use std::fs;
use std::path::Path;

use evalsuite::record::{ReasonCode, Stage};
use evalsuite::{CaseReport, CliAgents, Evals, Report, RunOptions, Status, Trial, Usage};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, grader, only, run, run_with, suite};

/// A package with a targets file, and a suite of these cases.
fn package(targets: &str, cases: &[Value]) -> (Evals, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir_all(directory.path().join("suites/x")).unwrap();
    fs::write(directory.path().join("targets.yaml"), targets).unwrap();
    (Evals::new(suite("cases", "mixed", directory.path(), cases)).with_agent(CliAgents), directory)
}

/// The only target, with these keys.
fn target(command: &str, more: &str) -> String {
    format!("targets:\n  - name: default\n    provider: cli\n    command: |-\n      {command}\n{more}")
}

fn run_one(targets: &str, case: Value) -> (Report, tempfile::TempDir) {
    let (evals, directory) = package(targets, &[case]);
    (run(&evals, &directory.path().join("out")), directory)
}

#[track_caller]
fn reason(case: &CaseReport) -> (Stage, ReasonCode, &str) {
    assert_eq!(case.status(), Status::Error, "{case}");
    let reason = case.record().reason.as_ref().unwrap();
    (reason.stage, reason.code, &reason.message)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
#[cfg_attr(windows, ignore = "its commands are lines for `sh`; `shells` runs lines for `cmd`")]
fn a_command_reads_its_prompt_and_writes_its_answer() {
    let command = "read -r line < {PROMPT_FILE}; echo \"$line, and $GREETING $EVALSUITE_CASE_ID $EVALSUITE_TRIAL\" > {OUTPUT_FILE}; echo said; echo thought >&2";
    let (report, directory) = run_one(
        &target(command, "    env: { GREETING: hi }\n"),
        case_json("greets/all", json!([contains("say hello, and hi greets/all 0")]), json!({})),
    );
    let case = only(&report);
    assert_eq!(case.status(), Status::Passed, "{case}");
    let trial = &case.trials()[0];
    assert_eq!((trial.agent.as_str(), trial.target.as_str()), ("cli:default", "default"));
    let agent = case.directory().join("trial-000/agent");
    assert_eq!(
        (read(&agent.join("stdout.txt")).as_str(), read(&agent.join("stderr.txt")).as_str()),
        ("said\n", "thought\n")
    );
    assert!(
        !agent.join("prompt.md").exists() && !agent.join("output").exists(),
        "files of a call that went well are removed"
    );
    assert!(!directory.path().join("suites/x/output").exists());
}

#[test]
#[cfg_attr(windows, ignore = "its commands are lines for `sh`; `shells` runs lines for `cmd`")]
fn what_a_command_reports_is_evidence() {
    let reply = json!({
        "output": [{"role": "assistant", "content": "all done", "tool_calls": [{"tool": "read", "input": {"path": "a"}}]}],
        "token_usage": {"input": 5, "output": 2}, "cost_usd": 0.25, "duration_ms": 1500, "state": {"saved": true},
    });
    let called = grader("read", 8, json!({"tool-trajectory": {"mode": "any_order", "minimums": [["read", 1]]}}));
    let (report, _directory) = run_one(
        &target(&format!("echo '{reply}' > {{OUTPUT_FILE}}"), ""),
        case_json("a", json!([contains("all done"), called]), json!({})),
    );
    let case = only(&report);
    assert_eq!(case.status(), Status::Passed, "{case}");
    let trial = &case.trials()[0];
    assert_eq!((trial.usage, trial.cost_usd, trial.duration_ms), (Some(Usage::new(5, 2)), Some(0.25), Some(1500)));
    assert_eq!(trial.state.get("saved"), Some(&json!(true)));
}

#[test]
#[cfg_attr(windows, ignore = "its commands are lines for `sh`; `shells` runs lines for `cmd`")]
fn a_trajectory_beside_the_answer_is_the_transcript() {
    let trajectory = json!({
        "schema_version": "ATIF-v1.8", "session_id": "s", "agent": {"name": "a", "version": "1", "model_name": "m-1"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "say hello"},
            {"step_id": 2, "source": "agent", "message": "hello world", "metrics": {"prompt_tokens": 5, "completion_tokens": 2},
             "tool_calls": [{"tool_call_id": "1", "function_name": "read", "arguments": {}}]},
        ],
    });
    let command = |more: &str| {
        target(
            &format!(
                "echo 'hello world' > {{OUTPUT_FILE}}; echo '{trajectory}' {more} > \"$EVALSUITE_TRAJECTORY_PATH\""
            ),
            "",
        )
    };
    let called = grader("read", 8, json!({"tool-trajectory": {"mode": "any_order", "minimums": [["read", 1]]}}));
    let case = || case_json("a", json!([contains("hello world"), called.clone()]), json!({}));
    let (report, _directory) = run_one(&command(""), case());
    let case_report = only(&report);
    assert_eq!(case_report.status(), Status::Passed, "{case_report}");
    let trial = &case_report.trials()[0];
    assert_eq!((trial.usage, trial.answer.as_deref()), (Some(Usage::new(5, 2)), Some("hello world")));
    let (report, _directory) = run_one(&command("| cut -c -40"), case());
    let (_, code, message) = reason(only(&report));
    assert_eq!(code, ReasonCode::AgentError);
    assert!(message.starts_with("the trajectory cannot be used: "), "{message}");
}

#[test]
#[cfg_attr(windows, ignore = "its commands are lines for `sh`; `shells` runs lines for `cmd`")]
fn a_command_works_in_the_workspace_or_where_its_target_says() {
    let command = "pwd > {OUTPUT_FILE}; echo made > made.txt 2> /dev/null || true";
    let with_workspace = |more: &str, workspace: bool| {
        let directory = tempfile::tempdir().unwrap();
        for place in ["suites/x/ws", "bin"] {
            fs::create_dir_all(directory.path().join(place)).unwrap();
        }
        fs::write(directory.path().join("targets.yaml"), target(command, more)).unwrap();
        let workspace = if workspace {
            json!({"workspace": {"template": {"written": "ws", "path": "suites/x/ws"}}})
        } else {
            json!({})
        };
        let case = case_json("a", json!([contains("/")]), workspace);
        let evals = Evals::new(suite("cases", "mixed", directory.path(), &[case])).with_agent(CliAgents);
        let report = run(&evals, &directory.path().join("out"));
        let trial = &only(&report).trials()[0];
        let answer = trial.answer.clone().unwrap_or_else(|| panic!("{}", only(&report))).trim_end().to_owned();
        let made = trial.workspace.as_ref().unwrap().created.clone();
        if !more.contains("in_suite_directory") {
            assert!(!directory.path().join("suites/x/made.txt").exists(), "nothing is written into a suite");
        }
        (answer.replace(&directory.path().canonicalize().unwrap().display().to_string(), ""), made)
    };
    let (place, made) = with_workspace("    cwd: bin\n", true);
    assert!(place.ends_with("/trial-000/workspace"), "{place}");
    assert_eq!(made, ["made.txt"]);
    assert_eq!(with_workspace("    cwd: bin\n", false).0, "/bin");
    let (place, made) = with_workspace("", false);
    assert!(place.ends_with("/trial-000/workspace"), "{place}");
    assert_eq!(made, ["made.txt"]);
    let asks = "    in_suite_directory: true\n";
    assert_eq!(with_workspace(asks, false), ("/suites/x".to_owned(), Vec::new()));
    assert!(with_workspace(asks, true).0.ends_with("/trial-000/workspace"));
}

#[test]
#[cfg_attr(windows, ignore = "its commands are lines for `sh`; `shells` runs lines for `cmd`")]
fn a_command_that_gives_no_answer_is_an_error_that_shows_what_it_said() {
    let case = || case_json("a", json!([contains("x")]), json!({}));
    let table = [
        (
            "echo broken pipe >&2; exit 3",
            "",
            ReasonCode::AgentError,
            "the command failed: exit status: 3\nstderr: broken pipe",
        ),
        ("kill -9 $$", "", ReasonCode::AgentError, "signal: 9"),
        ("true # {OUTPUT_FILE}", "", ReasonCode::AgentError, "the command wrote no output file"),
        ("true", "", ReasonCode::AgentError, "help: the command has to write its answer to `{OUTPUT_FILE}`"),
        (
            "echo '{\"output\": [{}]}' > {OUTPUT_FILE}",
            "",
            ReasonCode::AgentError,
            "message 1 of `output`: it has no `role`",
        ),
        (
            "echo waiting >&2; sleep 60 & sleep 60",
            "    timeout_seconds: 0.5\n",
            ReasonCode::Timeout,
            "the command did not end within 0.5 s\nstderr: waiting",
        ),
    ];
    for (command, more, code, message) in table {
        let (report, _directory) = run_one(&target(command, more), case());
        let case = only(&report);
        let (stage, found, text) = reason(case);
        assert_eq!((stage, found), (Stage::Agent, code), "{command}: {text}");
        assert!(text.contains(message), "{command}: {text}");
        let agent = case.directory().join("trial-000/agent");
        assert_eq!(read(&agent.join("prompt.md")), "say hello", "what a failed call was given is kept");
    }
}

#[test]
#[cfg_attr(windows, ignore = "its commands are lines for `sh`; `shells` runs lines for `cmd`")]
fn the_limit_of_a_case_goes_before_that_of_its_target() {
    let (report, _directory) = run_one(
        &target("sleep 60", "    timeout_seconds: 50\n"),
        case_json("a", json!([contains("x")]), json!({"timeout_seconds": 0.25})),
    );
    assert!(reason(only(&report)).2.contains("within 0.25 s"), "{}", only(&report));
}

#[test]
#[cfg_attr(windows, ignore = "its commands are lines for `sh`; `shells` runs lines for `cmd`")]
fn only_the_end_of_a_long_complaint_is_shown() {
    let (report, _directory) = run_one(
        &target("yes x | head -c 9000 >&2; echo last >&2; exit 1", ""),
        case_json("a", json!([contains("x")]), json!({})),
    );
    let (_, _, message) = reason(only(&report));
    assert!(message.ends_with("last") && message.len() < 2200, "{} bytes", message.len());
}

#[test]
#[cfg_attr(windows, ignore = "its commands are lines for `sh`; `shells` runs lines for `cmd`")]
fn variables_are_filled_in_and_hidden() {
    // Every process has this one, and it is long enough to be hidden.
    let path = std::env::var("PATH").unwrap();
    let command =
        "echo \"$SECRET\" | cut -c -5000 > {OUTPUT_FILE}; echo \"$SECRET\"; echo ${{ EVALSUITE_NO_SUCH_VARIABLE }}";
    let case = || case_json("a", json!([contains(&path)]), json!({}));
    let (report, _directory) = run_one(&target(command, "    env: { SECRET: '${{ PATH }}' }\n"), case());
    let case_report = only(&report);
    let (stage, code, message) = reason(case_report);
    assert_eq!((stage, code), (Stage::Setup, ReasonCode::VariableUnset));
    assert!(
        message.contains("error[E073 unset-variable]: environment variable `EVALSUITE_NO_SUCH_VARIABLE` is not set, used in `command`"),
        "{message}"
    );
    let place = case_report.record().reason.as_ref().unwrap().location.as_ref().unwrap();
    assert_eq!((place.file.as_str(), place.line), ("targets.yaml", 2));

    let command = command.split("; echo ${{").next().unwrap();
    let more = "    env: { SECRET: '${{ PATH }}' }\n    keep_temp_files: true\n    verbose: true\n";
    let (report, _directory) = run_one(&target(command, more), case());
    let case = only(&report);
    assert_eq!(case.status(), Status::Passed, "graders see what was said: {case}");
    let trial = case.directory().join("trial-000");
    assert_eq!(read(&trial.join("agent/stdout.txt")), "***\n");
    assert_eq!(read(&trial.join("agent/output")), "***\n");
    assert_eq!(read(&trial.join("agent/prompt.md")), "say hello");
    assert!(read(&trial.join("log.txt")).starts_with("$ echo \"$SECRET\" | cut"), "{}", read(&trial.join("log.txt")));
    assert!(!read(&trial.join("result.json")).contains(&path));
}

#[test]
fn targets_that_cannot_be_used_are_errors_of_their_cases_only() {
    let targets = "targets:\n  - { name: fast, provider: cli, command: 'echo fast > {OUTPUT_FILE}' }\n  - { name: alias, use_target: fast }\n  - { name: codex, provider: codex-cli, model: x }\n  \
                   - { name: chosen, use_target: '${{ EVALSUITE_NO_SUCH_VARIABLE }}' }\n  - { name: typo, provider: cli, comand: x }\n  \
                   - { name: batch, provider: cli, command: x, provider_batching: true }\n";
    let case = |id: &str, target: &str| case_json(id, json!([contains("fast")]), json!({"target": target}));
    let cases = [case("a", "fast"), case("b", "alias"), case("c", "codex"), case("d", "slow"), case("e", "mine")];
    let more = [case("f", "chosen"), case("g", "typo"), case("h", "batch")];
    let cases = [&cases[..], &more].concat();
    let (evals, directory) = package(targets, &cases);
    async fn mine(_: &mut Trial<'_>) -> anyhow::Result<&'static str> {
        Ok("not fast")
    }
    let report = run(&evals.with_target_agent("mine", mine), &directory.path().join("out"));
    let cases = report.cases();
    for passed in [0, 1, 4] {
        assert_eq!(cases[passed].status(), Status::Passed, "{}", cases[passed]);
    }
    assert_eq!(cases[1].trials()[0].agent, "cli:fast", "records name what was called");
    assert_eq!(cases[1].trials()[0].target, "alias");
    for (index, problem, text) in [
        (2, "E071 target-not-runnable", "provider `codex-cli`"),
        (3, "E071 target-not-runnable", "target `slow` is not defined"),
        (5, "E073 unset-variable", "`EVALSUITE_NO_SUCH_VARIABLE` is not set"),
        (6, "E019 unknown-key", "unknown key `comand`"),
        (7, "E071 target-not-runnable", "`provider_batching: true`, which is not supported"),
    ] {
        let (stage, code, message) = reason(&cases[index]);
        assert_eq!((stage, code), (Stage::Setup, ReasonCode::TargetUnusable));
        assert!(message.starts_with(&format!("error[{problem}]: ")) && message.contains(text), "{message}");
        assert!(!cases[index].to_string().contains("workspace: "), "there is none yet: {}", cases[index]);
    }
}

#[test]
fn a_targets_file_with_mistakes_is_shown_in_the_failure() {
    let targets = "targets:\n  - { name: default, provider: cli, comand: x }\n";
    let (report, _directory) = run_one(targets, case_json("a", json!([contains("x")]), json!({})));
    let (_, code, message) = reason(only(&report));
    assert_eq!(code, ReasonCode::TargetUnusable);
    assert!(message.contains("error[E019 unknown-key]: unknown key `comand`"), "{message}");
    assert!(message.contains("targets.yaml:2:37"), "{message}");
}

#[test]
#[cfg_attr(windows, ignore = "its commands are lines for `sh`; `shells` runs lines for `cmd`")]
fn a_target_that_is_not_healthy_is_asked_once_and_fails_all_its_cases() {
    let more = "    healthcheck: { command: 'echo asked >> asked; exit 7' }\n";
    let case = |id: &str| case_json(id, json!([contains("x")]), json!({}));
    let (evals, directory) = package(&target("echo x > {OUTPUT_FILE}", more), &[case("a"), case("b"), case("c")]);
    let report = run(&evals, &directory.path().join("out"));
    for case in report.cases() {
        let (_, code, message) = reason(case);
        assert_eq!(code, ReasonCode::HealthcheckFailed);
        assert!(message.contains("the health check of target `default` failed"), "{message}");
    }
    assert_eq!(read(&directory.path().join("suites/x/asked")), "asked\n");
}

#[test]
fn a_prompt_that_no_command_line_can_hold_is_explained() {
    let long = json!({"input": {"messages": [{"role": "user", "content": {"text": "x".repeat(300_000)}}]}});
    let (report, _directory) =
        run_one(&target("echo {PROMPT} > {OUTPUT_FILE}", ""), case_json("a", json!([contains("x")]), long));
    if cfg!(target_os = "linux") {
        assert!(reason(only(&report)).2.contains("pass it as `{PROMPT_FILE}`"), "{}", only(&report));
    }
}

#[test]
#[cfg_attr(windows, ignore = "its commands are lines for `sh`; `shells` runs lines for `cmd`")]
fn a_command_may_judge_but_not_itself() {
    let targets = "targets:\n  - { name: default, provider: cli, command: \"echo hello > {OUTPUT_FILE}\" }\n  - { name: strict, \
                   provider: cli, command: \"grep -q 'hello' {PROMPT_FILE} && echo '{\\\"score\\\": 0.9}' > {OUTPUT_FILE}\" }\n";
    let judged = |target: &str| json!([grader("tone", 5, json!({"llm-grader": {"judge": {"target": target}}}))]);
    let run = |target: &str| run_one(targets, case_json("a", judged(target), json!({"criteria": "greets"})));
    let (report, _directory) = run("strict");
    let record = &only(&report).trials()[0].graders[0];
    assert_eq!((record.value, record.error.as_deref()), (Some(0.9), None));
    assert_eq!(record.judge.as_ref().unwrap().name, "strict");
    for (target, part) in [("default", "is the agent under test"), ("other", "`other` is not defined")] {
        let (report, _directory) = run(target);
        let (_, code, message) = reason(only(&report));
        assert_eq!(code, ReasonCode::GraderError);
        assert!(message.contains(part), "{message}");
    }
}

#[test]
#[cfg_attr(windows, ignore = "its commands are lines for `sh`; `shells` runs lines for `cmd`")]
fn a_reply_that_cannot_be_read_is_an_error_that_shows_the_place() {
    let case = || case_json("a", json!([contains("x")]), json!({}));
    let write = |text: &str| format!("printf '%s' '{text}' > {{OUTPUT_FILE}}");
    let (report, _directory) = run_one(
        &target(&write(r#"{"text": "x", "token_usage": {"input": 5, "output": 2}, "cost_usd": NaN}"#), ""),
        case(),
    );
    let case_report = only(&report);
    let (stage, code, message) = reason(case_report);
    assert_eq!((stage, code), (Stage::Agent, ReasonCode::AgentError));
    for part in [
        "the output file cannot be used: line 1, column 69: expected value\n  | ",
        "\"cost_usd\": NaN}\n",
        "^\nexpected a JSON object with",
    ] {
        assert!(message.contains(part), "{message}");
    }
    let trial = &case_report.trials()[0];
    assert_eq!((trial.answer.as_deref(), trial.usage), (Some("x"), Some(Usage::new(5, 2))), "what can be read is kept");
    let agent = case_report.directory().join("trial-000/agent");
    assert!(read(&agent.join("output")).starts_with("{\"text\": \"x\""), "the file is kept");

    let answer = r#"{"x": 1}"#;
    let (report, _directory) = run_one(&target(&write(answer), ""), case());
    let (_, _, message) = reason(only(&report));
    assert!(message.contains("no key of a reply, only `x`") && message.contains("write `output: text`"), "{message}");
    let (report, _directory) = run_one(&target(&write(answer), "    output: text\n"), case());
    assert_eq!(only(&report).status(), Status::Passed, "{}", only(&report));
    assert_eq!(only(&report).trials()[0].answer.as_deref(), Some(answer));
    let (report, _directory) = run_one(&target(&write("x"), "    output: json\n"), case());
    assert!(reason(only(&report)).2.contains("this is not a JSON object"), "{}", only(&report));
}

/// What a command writes before it fails, and the end of the command.
const REPORT: &str =
    r#"{"text": "so far", "token_usage": {"input": 5, "output": 2}, "cost_usd": 0.25, "state": {"saved": true}}"#;

#[test]
#[cfg_attr(windows, ignore = "its commands are lines for `sh`; `shells` runs lines for `cmd`")]
fn what_a_command_wrote_before_it_failed_is_kept() {
    let case = || case_json("a", json!([contains("x")]), json!({}));
    let limit = "    timeout_seconds: 0.5\n";
    for (end, more, code) in [("exit 1", "", ReasonCode::AgentError), ("sleep 60", limit, ReasonCode::Timeout)] {
        let (report, _directory) = run_one(&target(&format!("echo '{REPORT}' > {{OUTPUT_FILE}}; {end}"), more), case());
        let case_report = only(&report);
        assert_eq!(reason(case_report).1, code);
        let trial = &case_report.trials()[0];
        assert_eq!(
            (trial.answer.as_deref(), trial.usage, trial.cost_usd),
            (Some("so far"), Some(Usage::new(5, 2)), Some(0.25))
        );
        assert_eq!((trial.state.get("saved"), &*trial.notes), (Some(&json!(true)), &[][..]));

        let cut = format!("printf '%s' '{}' > {{OUTPUT_FILE}}; {end}", r#"{"cost_usd": 0.25, "text": "do"#);
        let (report, _directory) = run_one(&target(&cut, more), case());
        let trial = &only(&report).trials()[0];
        assert_eq!((trial.answer.as_deref(), trial.cost_usd), (Some(r#"{"cost_usd": 0.25, "text": "do"#), Some(0.25)));
        let [note] = trial.notes.as_slice() else { panic!("{:?}", trial.notes) };
        assert!(note.code == "output_unreadable" && note.message.contains("line 1, column"), "{note:?}");

        let trajectory = json!({
            "schema_version": "ATIF-v1.8", "session_id": "s", "agent": {"name": "a", "version": "1", "model_name": "m-1"},
            "steps": [
                {"step_id": 1, "source": "user", "message": "say hello"},
                {"step_id": 2, "source": "agent", "message": "on it", "metrics": {"prompt_tokens": 5, "completion_tokens": 2, "cost_usd": 0.5},
                 "tool_calls": [{"tool_call_id": "1", "function_name": "read", "arguments": {}}]},
            ],
        });
        let command = |pipe: &str| format!("echo '{trajectory}' {pipe} > \"$EVALSUITE_TRAJECTORY_PATH\"; {end}");
        let (report, _directory) = run_one(&target(&command(""), more), case());
        let case_report = only(&report);
        let trial = &case_report.trials()[0];
        assert_eq!(
            (trial.usage, trial.cost_usd, trial.model.as_deref()),
            (Some(Usage::new(5, 2)), Some(0.5), Some("m-1"))
        );
        let written = read(&case_report.directory().join("trial-000/trajectory.json"));
        assert!(
            written.contains("\"function_name\": \"read\"") || written.contains("\"function_name\":\"read\""),
            "{written}"
        );
        let (report, _directory) = run_one(&target(&command("| cut -c -40"), more), case());
        let trial = &only(&report).trials()[0];
        assert!(
            trial.notes.iter().any(|note| note.message.starts_with("the trajectory cannot be used: ")),
            "{:?}",
            trial.notes
        );
    }
}

#[test]
#[cfg_attr(windows, ignore = "its commands are lines for `sh`; `shells` runs lines for `cmd`")]
fn attempts_that_failed_are_in_the_spending_of_the_run() {
    let command = format!(
        "echo '{REPORT}' > {{OUTPUT_FILE}}; test -e $EVALSUITE_SUITE_DIR/again || {{ touch $EVALSUITE_SUITE_DIR/again; exit 1; }}"
    );
    let (evals, directory) = package(&target(&command, ""), &[case_json("a", json!([contains("so far")]), json!({}))]);
    let report = run_with(&evals, &directory.path().join("out"), RunOptions::new().with_retries(1));
    let case = only(&report);
    assert_eq!(case.status(), Status::Passed, "{case}");
    assert_eq!((case.trials()[0].attempt, case.trials()[0].cost_usd), (1, Some(0.25)));
    let [retried] = case.record().retried.as_slice() else { panic!("{:?}", case.record().retried) };
    assert_eq!((retried.outcome, retried.cost_usd, retried.usage), (Status::Error, Some(0.25), Some(Usage::new(5, 2))));
    assert!(case.directory().join(&retried.path).is_file());
    let run = case.directory().ancestors().find(|directory| directory.join("spend.jsonl").is_file()).unwrap();
    let spent: Vec<f64> = read(&run.join("spend.jsonl"))
        .lines()
        .map(|line| evalsuite_schema::json::from_str::<Value>(line).unwrap()["cost_usd"].as_f64().unwrap())
        .collect();
    assert_eq!(spent, [0.25, 0.25]);
    let target = &report.summary().targets[0];
    assert_eq!((target.cost_usd, target.usage), (Some(0.5), Some(Usage::new(10, 4))));
}

#[test]
#[cfg_attr(windows, ignore = "its commands are lines for `sh`; `shells` runs lines for `cmd`")]
fn a_conversation_has_what_its_last_turn_reported() {
    let turn = json!({"input": {"role": "user", "content": {"text": "hi"}}, "expected_output": [], "graders": []});
    let conversation = json!({"turns": [turn, turn], "aggregation": "mean", "on_turn_failure": "stop"});
    let again = "test -e again && exit 1; touch again";
    let (report, _directory) = run_one(
        &target(&format!("echo '{REPORT}' > {{OUTPUT_FILE}}; {again}"), ""),
        case_json("a", json!([contains("x")]), json!({"conversation": conversation})),
    );
    let case = only(&report);
    assert_eq!(reason(case).1, ReasonCode::AgentError);
    let trial = &case.trials()[0];
    assert_eq!((trial.usage, trial.cost_usd), (Some(Usage::new(10, 4)), Some(0.5)), "of both turns");
    let written = read(&case.directory().join("trial-000/trajectory.json"));
    assert!(written.contains("so far"), "{written}");
}
