//! The records of trials that end early: complete as far as the trial got.

use std::fs;
use std::path::Path;

use evalsuite::record::{ReasonCode, Stage, TrialRecord};
use evalsuite::{AgentError, Content, Evals, Message, Outcome, Part, PathRef, Role, Status, Trial, Usage};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, only, run, suite};

async fn answers(_: &mut Trial<'_>) -> anyhow::Result<String> {
    Ok("hello".into())
}

async fn never_ends(trial: &mut Trial<'_>) -> anyhow::Result<String> {
    trial.usage(Usage::new(5, 2));
    trial.log("still here");
    fs::write(trial.workspace().join("note.txt"), "so far\n")?;
    std::future::pending::<()>().await;
    Ok(String::new())
}

async fn skips(_: &mut Trial<'_>) -> Result<String, AgentError> {
    Err(AgentError::skip("no key"))
}

async fn panics(_: &mut Trial<'_>) -> Result<String, AgentError> {
    panic!("out of ideas")
}

async fn fails_at_length(_: &mut Trial<'_>) -> Result<String, AgentError> {
    Err(AgentError::new(format!("status 502: {}", "x".repeat(20 << 20))))
}

async fn panics_at_length(_: &mut Trial<'_>) -> Result<String, AgentError> {
    panic!("status 502: {}", "x".repeat(20 << 20))
}

/// The record of the only trial of a case, which is also what its file holds.
fn record(more: Value, bind: impl FnOnce(Evals) -> Evals) -> TrialRecord {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir_all(directory.path().join("suites/x")).unwrap();
    let case = case_json("c", json!([contains("hello")]), more);
    let evals = bind(Evals::new(suite("cases", "mixed", directory.path(), &[case])));
    let report = run(&evals, directory.path());
    let case = only(&report);
    let record = case.trials()[0].clone();
    let trial = case.directory().join("trial-000");
    let written: TrialRecord =
        evalsuite_schema::json::from_slice(&fs::read(trial.join("result.json")).unwrap()).unwrap();
    assert_eq!(written, record, "the file holds the record");
    assert_eq!(record.trajectory.as_deref().is_some_and(|file| trial.join(file).is_file()), called(&record));
    assert!(record.hooks.iter().all(|hook| trial.join(&hook.log).is_file()), "{:?}", record.hooks);
    assert!(Path::new(&trial).join("started.json").is_file());
    assert_known_before_the_trial(&record);
    record
}

/// Whether the agent was called.
fn called(record: &TrialRecord) -> bool {
    record.duration_ms.is_some()
}

fn assert_known_before_the_trial(record: &TrialRecord) {
    assert_eq!(
        (record.schema.as_str(), record.suite.as_str(), record.case_id.as_str()),
        ("evalsuite.trial/1", "x", "c")
    );
    assert_eq!((record.test_name.as_str(), record.target.as_str()), ("x::c", "default"));
    assert_eq!((record.trials_planned, record.runner_attempt, record.threshold), (1, 1, 0.8));
    assert_eq!((record.location.line, record.versions.package.as_str()), (1, "demo 1.2.3"));
    let filled = [&record.run_id, &record.case_key, &record.case_digest, &record.input_digest, &record.grader_digest];
    assert!(filled.iter().all(|text| !text.is_empty()), "{record:?}");
    assert!(record.started_at <= record.ended_at && !record.started_at.is_empty());
    let timings = record.timings;
    let sum = timings.setup_ms + timings.agent_ms + timings.capture_ms + timings.grading_ms + timings.teardown_ms;
    assert!(sum <= timings.total_ms, "{timings:?}");
}

fn reason(record: &TrialRecord) -> (Status, Stage, ReasonCode) {
    let reason = record.reason.as_ref().expect("the record says why the trial ended");
    (record.outcome, reason.stage, reason.code)
}

#[cfg(unix)]
fn hook(line: &str) -> Value {
    json!({"command": {"shell": line}, "timeout_ms": 60_000, "reset": "none"})
}

#[test]
fn a_long_error_leaves_a_record_that_can_be_read() {
    for record in [
        record(json!({}), |evals| evals.with_agent(fails_at_length)),
        record(json!({}), |evals| evals.with_agent(panics_at_length)),
    ] {
        let message = record.reason.unwrap().message;
        assert!(message.contains("status 502: xxx") && message.contains("x…x"), "{} bytes", message.len());
        assert!(message.len() < 20_000, "{} bytes", message.len());
    }
}

#[test]
fn a_trial_that_stops_in_its_setup_has_no_workspace() {
    let input = json!({"messages": [{"role": "user", "content": {"text": "${{ EVALSUITE_NO_SUCH_VARIABLE }}"}}]});
    let record = record(json!({"input": input}), |evals| evals.with_agent(answers));
    assert_eq!(reason(&record), (Status::Error, Stage::Setup, ReasonCode::VariableUnset));
    assert!(record.workspace.is_none() && record.hooks.is_empty() && record.graders.is_empty() && !called(&record));
}

#[cfg(unix)]
#[test]
fn a_trial_whose_hook_fails_has_its_workspace_and_both_hooks() {
    let hooks = json!({"before_each": hook("exit 3"), "after_each": hook("echo done")});
    let record = record(json!({"workspace": {"hooks": hooks}}), |evals| evals.with_agent(answers));
    assert_eq!(reason(&record), (Status::Error, Stage::BeforeHooks, ReasonCode::HookFailed));
    let codes: Vec<_> = record.hooks.iter().map(|hook| (hook.name.as_str(), hook.exit_code)).collect();
    assert_eq!(codes, [("before_each", Some(3)), ("after_each", Some(0))]);
    assert!(record.workspace.as_ref().is_some_and(|workspace| workspace.kept) && !called(&record));
}

#[test]
fn a_trial_whose_agent_runs_out_of_time_has_what_was_reported_until_then() {
    let record = record(json!({"timeout_seconds": 0.2}), |evals| evals.with_agent(never_ends));
    assert_eq!(reason(&record), (Status::Error, Stage::Agent, ReasonCode::Timeout));
    assert!(record.duration_ms.is_some_and(|ms| ms >= 200) && record.timings.agent_ms >= 200, "{record:?}");
    assert_eq!((record.usage, record.answer.as_deref(), record.score), (Some(Usage::new(5, 2)), None, None));
    let workspace = record.workspace.expect("it had a workspace");
    assert_eq!((workspace.created, workspace.patch.as_deref()), (vec!["note.txt".to_owned()], Some("diff.patch")));
}

#[test]
fn a_trial_whose_agent_returns_what_cannot_be_used_has_the_rest() {
    async fn costs_nothing_known(_: &mut Trial<'_>) -> anyhow::Result<Outcome> {
        Ok(Outcome::from("hello").with_usage(Usage::new(5, 2)).with_state("saved", true).with_cost_usd(f64::NAN))
    }
    async fn names_a_file_outside(_: &mut Trial<'_>) -> anyhow::Result<Outcome> {
        let mut message = Message::text(Role::Assistant, "hello");
        message.content = Some(Content::Parts(vec![Part::File(PathRef::new("../../../../outside"))]));
        (message.usage, message.cost_usd) = (Some(Usage::new(5, 2)), Some(0.25));
        Ok(Outcome::new().with_messages(vec![message]).with_state("saved", true))
    }
    let nan = record(json!({}), |evals| evals.with_agent(costs_nothing_known));
    let outside = record(json!({}), |evals| evals.with_agent(names_a_file_outside));
    assert_eq!((nan.answer.as_deref(), nan.cost_usd, outside.cost_usd), (Some("hello"), None, Some(0.25)));
    for record in [nan, outside] {
        assert_eq!(reason(&record), (Status::Error, Stage::Agent, ReasonCode::AgentError));
        assert_eq!((record.usage, record.state.get("saved")), (Some(Usage::new(5, 2)), Some(&json!(true))));
    }
}

#[test]
fn a_trial_that_its_agent_skips_removes_its_workspace() {
    let record = record(json!({}), |evals| evals.with_agent(skips));
    assert_eq!(reason(&record), (Status::Skipped, Stage::Agent, ReasonCode::SkipRequested));
    assert!(called(&record) && record.workspace.is_some_and(|workspace| !workspace.kept));
}

#[test]
fn a_trial_whose_agent_panics_keeps_its_workspace() {
    let record = record(json!({}), |evals| evals.with_agent(panics));
    assert_eq!(reason(&record), (Status::Error, Stage::Agent, ReasonCode::AgentPanic));
    assert!(called(&record) && record.workspace.is_some_and(|workspace| workspace.kept));
}

#[test]
fn a_conversation_that_ends_early_has_its_turns() {
    async fn fails_in_its_second_turn(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        anyhow::ensure!(trial.turn() != Some(2), "no second answer");
        trial.usage(Usage::new(5, 2));
        Ok("hello".into())
    }
    let turn = json!({"input": {"role": "user", "content": {"text": "hi"}}, "expected_output": [], "graders": []});
    let conversation = json!({"turns": [turn, turn, turn], "aggregation": "mean", "on_turn_failure": "continue"});
    let record = record(json!({"conversation": conversation}), |evals| evals.with_agent(fails_in_its_second_turn));
    assert_eq!(reason(&record), (Status::Error, Stage::Agent, ReasonCode::AgentError));
    let turns: Vec<_> = record.turns.iter().flatten().map(|turn| turn.outcome).collect();
    assert_eq!(turns, [Status::Skipped, Status::Error]);
    assert_eq!(record.usage, Some(Usage::new(5, 2)));
}

#[test]
fn a_grader_that_rejects_its_config_does_so_before_the_agent_is_called() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir_all(directory.path().join("suites/x")).unwrap();
    let user = json!({"user": {"grader": "own", "config": {"words": "two"}}});
    let case = case_json("c", json!([crate::common::grader("own", 9, user)]), json!({}));
    #[derive(serde::Deserialize)]
    struct Limits {
        words: usize,
    }
    let own = |limits: Limits, evidence: &evalsuite::Evidence<'_>| evidence.answer().len() == limits.words;
    let calls = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = calls.clone();
    let agent = move |_: &mut Trial<'_>| -> anyhow::Result<String> {
        counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Ok("hello".into())
    };
    let evals =
        Evals::new(suite("cases", "mixed", directory.path(), &[case])).with_grader("own", own).with_agent(agent);
    let report = run(&evals, directory.path());
    let reason = only(&report).trials()[0].reason.clone().expect("a reason");
    assert_eq!((reason.stage, reason.code), (Stage::Setup, ReasonCode::GraderError));
    assert!(reason.message.starts_with("grader `own` rejects its config: words: invalid type"), "{}", reason.message);
    assert_eq!(reason.location.map(|location| location.line), Some(9));
    assert_eq!(calls.load(std::sync::atomic::Ordering::SeqCst), 0, "the agent was called");
}

#[test]
fn the_prompt_and_the_partial_answer_of_an_agent_that_fails_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir_all(directory.path().join("suites/x")).unwrap();
    let case = case_json("c", json!([contains("hello")]), json!({}));
    let agent = |trial: &mut Trial<'_>| -> Result<String, AgentError> {
        trial.tool_call(evalsuite::ToolCall::new("search"));
        trial.set_answer("I am looking into");
        fs::write(trial.workspace().parent().unwrap().join("evidence.json"), "planted").unwrap();
        Err(AgentError::new("the stream broke"))
    };
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &[case])).with_agent(agent);
    let report = run(&evals, directory.path());
    let case = only(&report);
    let (record, trial) = (&case.trials()[0], case.directory().join("trial-000"));
    assert_eq!((record.outcome, record.answer.as_deref()), (Status::Error, Some("I am looking into")));
    let read =
        |file: &str| -> Value { evalsuite_schema::json::from_slice(&fs::read(trial.join(file)).unwrap()).unwrap() };
    let steps = read("trajectory.json")["steps"].clone();
    assert_eq!(steps[0]["tool_calls"][0]["function_name"], "search", "{steps}");
    assert_eq!(steps[1]["message"], "I am looking into", "{steps}");
    assert!(!trial.join("evidence.json").exists(), "there is no result to grade again");
    assert_eq!(read("input.json")["seen"]["input"]["messages"][0]["role"], "user", "{}", read("input.json"));
}
