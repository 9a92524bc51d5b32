//! A call of an agent that is a command, or a turn of one that speaks the Agent Client Protocol.

use evalsuite_records::record::{Note, ReasonCode, Stage};
use evalsuite_schema::Input;

use crate::agents::command::resolved_command::ResolvedCommand;
use crate::agents::command_exchange::{CommandCall, CommandFailure, Writer};
use crate::model::messages::{media_parts, messages_of, prompt};
use crate::model::outcome::Outcome;
use crate::model::recording::Recording;
use crate::platform::untrusted::UntrustedDirectory;
use crate::run::trial::prepared::Prepared;
use crate::run::trial::trial_attempt::EarlyEnd;

/// How a call of an agent ended, what the agent recorded until then, and warnings about what it reported.
pub(crate) type CallResult = (Result<Outcome, EarlyEnd>, Recording, Vec<Note>);

/// Where the files of a call of the agent are.
pub(crate) fn agent_directory(prepared: &Prepared<'_>, turn: Option<u32>) -> UntrustedDirectory {
    let directory = UntrustedDirectory::new(&prepared.trial.directory).join("agent");
    turn.map_or_else(|| directory.clone(), |turn| directory.join(format!("turn-{turn:03}")))
}

/// Runs the command of the agent, or asks it in its session. `turn` is the index of the turn in a conversation.
pub(crate) fn call_command(
    prepared: &Prepared<'_>,
    input: &Input,
    turn: Option<u32>,
    command: &ResolvedCommand<'_>,
) -> CallResult {
    let Prepared { trial, case, environment, .. } = prepared;
    let plan = trial.plan;
    // For a case without a workspace, the target may say where the command runs.
    let elsewhere = command.own_directory(&plan.places).filter(|_| case.workspace.is_none());
    let now = input_of_turn(command, input, turn);
    let input = now.as_ref().unwrap_or(input);
    let ask = CommandCall {
        prompt: &prompt(input, |file| plan.places.resolve(file)),
        files: &prepared.files(input),
        case_id: &case.id,
        trial: trial.index,
        directory: &agent_directory(prepared, turn),
        cwd: elsewhere.as_deref().unwrap_or(&trial.workspace),
        environment,
        limit: plan.limit,
        writer: Writer::Agent,
        keep: plan.settings.keep_workspaces,
        redactor: &plan.redactor,
        mcp: prepared.mcp.as_ref(),
        seal: prepared.seal.start.as_ref(),
    };
    if let Some(target) = &command.agent.acp {
        let media = media_parts(messages_of(input)).into_iter();
        let media = media.map(|(file, kind)| (plan.places.resolve(file), kind.to_owned())).collect();
        let turns = case.conversation.as_ref().map_or(0, |conversation| conversation.turns.len());
        // Whether a simulated user says more is only known after the answer; the session then ends with the trial.
        let is_last = turn.is_none_or(|turn| turn as usize + 1 == turns && case.user().is_none());
        let mut answer = prepared.acp.turn(command, target, &ask, media, is_last);
        if let Some(mcp) = &prepared.mcp {
            let mut unreported = Outcome::new();
            let reported = answer.result.as_mut().unwrap_or(&mut unreported);
            answer.notes.extend(mcp.add_calls(reported, &mut answer.recording));
        }
        return (answer.result.map_err(end_of_command), answer.recording, answer.notes);
    }
    let mut answer = command.call(&ask);
    let mut recording = Recording::default();
    if let Some(line) = &answer.log {
        recording.log(line);
    }
    if let Some(mcp) = &prepared.mcp {
        answer.notes.extend(mcp.add_calls(&mut answer.reported, &mut recording));
    }
    let result = match answer.result {
        Ok(()) => Ok(answer.reported),
        Err(failure) => {
            recording.keep(answer.reported);
            Err(end_of_command(failure))
        }
    };
    (result, recording, answer.notes)
}

/// What a session with the agent does not know yet, if the turns of a conversation are turns of one session: the last message.
fn input_of_turn(command: &ResolvedCommand<'_>, input: &Input, turn: Option<u32>) -> Option<Input> {
    let has_session = command.agent.acp.is_some() && turn.is_some_and(|turn| turn > 0);
    let message = messages_of(input).last().filter(|_| has_session)?;
    Some(Input::Messages(vec![message.clone()]))
}

fn end_of_command(failure: CommandFailure) -> EarlyEnd {
    match failure {
        CommandFailure::Failed(message) => failed(message),
        CommandFailure::TimedOut(message) => EarlyEnd::error(Stage::Agent, ReasonCode::Timeout, message),
    }
}

/// An error of the agent.
pub(crate) fn failed(message: String) -> EarlyEnd {
    EarlyEnd::error(Stage::Agent, ReasonCode::AgentError, message)
}
