//! Runs the conversations of `suites/desk` and `suites/callers`.

use std::convert::Infallible;

use evalsuite::{Outcome, ToolCall, Trial, UserReply, UserRequest, include_eval_suite};
use memory_agent::{ChatMessage, DeskAgent, Memory, RuleModel};

include_eval_suite!("suites/desk");
include_eval_suite!("suites/callers", users = [in_a_hurry]);

/// Called once per turn, with the messages of the conversation so far. The workspace lasts for the whole conversation, and so does a memory
/// in it.
fn agent(trial: &mut Trial<'_>) -> anyhow::Result<Outcome> {
    let messages: Vec<ChatMessage> = evalsuite::chat::openai(trial.messages())?;
    let memory = Memory::in_file(trial.workspace().join("notes.txt"));
    let answer = DeskAgent::new(RuleModel, memory).answer(messages)?;
    for tool in answer.tools {
        trial.tool_call(ToolCall::new(tool.name).with_input(tool.input).with_output(tool.output));
    }
    trial.transcript_complete(); // a tool call that was not recorded was not made
    Ok(Outcome::new().with_text(answer.text))
}

/// A simulated user: says what the agent asks for, until it has an answer.
fn in_a_hurry(request: UserRequest) -> Result<UserReply, Infallible> {
    let answer = request.answer();
    Ok(match request.turn() {
        1 => "When does my order arrive?".into(),
        _ if answer.contains("number") => "My order is 1182.".into(),
        _ if answer.contains("Friday") => UserReply::done(),
        _ => "That is not what I asked for. When does it arrive?".into(),
    })
}

#[test]
fn the_text_of_a_message_is_at_hand() {
    fn last_of_user(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        let said = trial.messages().iter().rev().find(|message| message.role == evalsuite::Role::User);
        Ok(said.map(|message| message.plain_text().into_owned()).unwrap_or_default())
    }
    let records = tempfile::tempdir().unwrap();
    let options = evalsuite::RunOptions::new().with_output(records.path());
    let run = evalsuite::Evals::new(&desk::SUITE).with_agent(last_of_user);
    let report = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(run.run(&options)).unwrap();
    let turns = report.cases()[0].trials()[0].turns.as_deref().unwrap();
    assert!(turns.iter().all(|turn| turn.answer.as_deref() == Some(turn.input.as_str())), "{turns:?}");
}
