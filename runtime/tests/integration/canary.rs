//! The canary of a suite: an agent that repeats it saw the answers.

use std::fs;
use std::path::Path;

use evalsuite::record::{ReasonCode, Stage, TrialRecord};
use evalsuite::{AgentError, Evals, Message, Outcome, Role, Status, ToolCall, Trial};
use evalsuite_schema::Content;
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, only, run, suite_with};

const CANARY: &str = "3f0c9b52-61de-4a57-9a0e-7d1f5b8c2e46";

/// A suite of one case, with a canary.
fn evals(directory: &Path, more: Value) -> Evals {
    let cases = [case_json("a", json!([contains("hello")]), more)];
    Evals::new(suite_with("cases", "mixed", directory, &cases, json!({"canary": CANARY})))
}

/// The record of the only trial.
fn trial(evals: &Evals, directory: &Path) -> TrialRecord {
    only(&run(evals, directory)).trials()[0].clone()
}

async fn says_hello(_: &mut Trial<'_>) -> Result<Outcome, AgentError> {
    Ok("hello".into())
}

#[test]
fn an_agent_that_repeats_the_canary_anywhere_saw_the_answers() {
    async fn in_its_answer(_: &mut Trial<'_>) -> Result<Outcome, AgentError> {
        Ok(format!("hello, {}", CANARY.to_uppercase()).into())
    }
    async fn in_a_result_of_a_tool(trial: &mut Trial<'_>) -> Result<Outcome, AgentError> {
        let mut call = ToolCall::new("read_file");
        call.output = Some(format!("# canary: {CANARY}\ninput: x").into());
        trial.tool_call(call);
        Ok("hello".into())
    }
    async fn in_a_message(trial: &mut Trial<'_>) -> Result<Outcome, AgentError> {
        trial.message(Message::new(Role::Assistant, Content::Text(CANARY.into())));
        trial.message(Message::new(Role::Assistant, Content::Text("hello".into())));
        Ok("hello".into())
    }
    async fn in_a_file(trial: &mut Trial<'_>) -> Result<Outcome, AgentError> {
        fs::write(trial.workspace().join("notes"), CANARY).map_err(|error| AgentError::new(error.to_string()))?;
        Ok("hello".into())
    }
    async fn in_its_state(trial: &mut Trial<'_>) -> Result<Outcome, AgentError> {
        trial.set_state("notes", json!([CANARY]));
        Ok("hello".into())
    }
    async fn before_it_fails(trial: &mut Trial<'_>) -> Result<Outcome, AgentError> {
        trial.set_answer(CANARY);
        Err(AgentError::new("the model is gone"))
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let turns = json!({"conversation": {"turns": [{"input": {"role": "user", "content": {"text": "one"}}}]}});
    let trials = [
        (trial(&evals(path, json!({})).with_agent(in_its_answer), path), "in its answer"),
        (
            trial(&evals(path, json!({})).with_agent(in_a_result_of_a_tool), path),
            "in a call of the tool `read_file`, in message 1 of the transcript",
        ),
        (trial(&evals(path, json!({})).with_agent(in_a_message), path), "in message 1 of the transcript (assistant)"),
        (trial(&evals(path, json!({})).with_agent(in_a_file), path), "in a file that it changed"),
        (trial(&evals(path, json!({})).with_agent(in_its_state), path), "in the data that it reported"),
        (trial(&evals(path, turns).with_agent(in_its_answer), path), "in its answer"),
        (
            trial(&evals(path, json!({})).with_agent(before_it_fails), path),
            "in its answer; the trial also ended with agent_error: the model is gone",
        ),
    ];
    for (trial, place) in trials {
        let reason = trial.reason.expect("an error has a reason");
        assert_eq!((trial.outcome, trial.score), (Status::Error, None), "{place}");
        assert_eq!((reason.stage, reason.code), (Stage::Grading, ReasonCode::SawAnswers), "{place}");
        assert_eq!(reason.message, format!("the agent saw the answers: the canary of the suite is {place}"));
    }
}

#[test]
fn what_an_agent_was_given_does_not_show_that_it_saw_the_answers() {
    async fn repeats_its_input(trial: &mut Trial<'_>) -> Result<Outcome, AgentError> {
        let files = fs::read_to_string(trial.workspace().join("terms.txt")).unwrap_or_default();
        Ok(format!("hello {} {files}", trial.prompt()).into())
    }
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(
        trial(&evals(directory.path(), json!({})).with_agent(says_hello), directory.path()).outcome,
        Status::Passed
    );
    fs::create_dir_all(directory.path().join("suites/x/files")).unwrap();
    fs::write(directory.path().join("suites/x/files/terms.txt"), CANARY).unwrap();
    let message = |text: &str| json!({"messages": [{"role": "user", "content": {"text": text}}]});
    let template = json!({"template": {"written": "files", "path": "suites/x/files"}});
    for (more, place) in [
        (json!({"input": message(CANARY)}), "the input of the case"),
        (json!({"workspace": template}), "the workspace of the case"),
    ] {
        let trial = trial(&evals(directory.path(), more).with_agent(repeats_its_input), directory.path());
        assert_eq!((trial.outcome, trial.reason), (Status::Passed, None), "{place}");
        let note = trial.notes.iter().find(|note| note.code == "canary_in_input").expect("it is noted");
        assert!(note.message.contains(place), "{}", note.message);
    }
}
