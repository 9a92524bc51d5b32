//! A trial whose agent has MCP servers: their session begins before the agent is called, and ends after its graders.

#[cfg(feature = "mcp")]
mod begun;

use evalsuite_records::record::{Note, Reason, ReasonCode, Stage, Status};

#[cfg(not(feature = "mcp"))]
use crate::agents::command::resolved_command::ResolvedCommand;
use crate::agents::mcp::McpSession;
#[cfg(not(feature = "mcp"))]
use crate::run::trial::trial_attempt::EarlyEnd;
use crate::run::trial::trial_attempt::TrialAttempt;

#[cfg(feature = "mcp")]
pub(crate) use self::begun::begin;

/// Without the feature, an agent with servers cannot be called.
#[cfg(not(feature = "mcp"))]
pub(crate) fn begin(_: &TrialAttempt<'_>, command: &ResolvedCommand<'_>) -> Result<Option<McpSession>, EarlyEnd> {
    if command.target.mcp.is_none() {
        return Ok(None);
    }
    let message = "the target has `mcp`, which needs the feature `mcp` of evalsuite\nhelp: `cargo add --dev evalsuite --features mcp`";
    Err(EarlyEnd::error(Stage::Setup, ReasonCode::TargetUnusable, message))
}

/// Ends the session. A trial with a request that is not in the recording is an error, whatever its agent made of the answer that said so.
pub(crate) fn end(trial: &TrialAttempt<'_>, session: Option<&McpSession>) {
    let Some(session) = session else { return };
    let outcome = trial.record.borrow().outcome;
    let ended = session.end(matches!(outcome, Status::Passed | Status::Failed));
    trial.add_notes(ended.notes);
    let Some(unknown) = ended.unknown else { return };
    let mut record = trial.record.borrow_mut();
    if let Some(before) = record.reason.take() {
        record.notes.push(Note::new("after_difference", before.message));
    }
    let reason = Reason::new(Stage::Agent, ReasonCode::RecordingStale, unknown);
    (record.outcome, record.score, record.reason) = (Status::Error, None, Some(reason));
}
