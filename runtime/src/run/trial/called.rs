//! A trial whose agent was called, or whose agent's call was replayed.

use std::io;
use std::time::{Duration, Instant};

use evalsuite_records::record::{Note, ReasonCode, Stage};
use evalsuite_schema::{Input, Role};

use crate::model::messages::named_files;
use crate::model::outcome::Outcome;
use crate::model::recording::Recording;
use crate::platform::clock::timestamp;
use crate::record::cassette::AgentCall;
use crate::run::trial::agent_call::{self, CallResult};
use crate::run::trial::early_end::EarlyEnd;
use crate::run::trial::prepared::Prepared;
use crate::workspace;
use crate::workspace::replayable_changes::ReplayableChanges;
use crate::workspace::snapshot::Snapshot;

/// An agent's call, however it ended.
pub(crate) struct Called {
    pub(crate) result: Result<Outcome, EarlyEnd>,
    /// What the agent recorded until then.
    pub(crate) recording: Recording,
    /// Warnings about what it reported.
    pub(crate) notes: Vec<Note>,
    pub(crate) took: Duration,
    /// When it began and when it ended.
    pub(crate) span: (String, String),
    /// The workspace after the call.
    pub(crate) after: io::Result<Snapshot>,
}

/// Calls the agent and records what it did, or replays a recorded call. `before` is the workspace before the call.
pub(crate) fn call_agent(
    prepared: &Prepared<'_>,
    input: &Input,
    turn: Option<u32>,
    before: Result<&Snapshot, &io::Error>,
) -> Result<Called, EarlyEnd> {
    let cassette = &prepared.cassette;
    if !cassette.is_live() {
        return replay(prepared, before);
    }
    let (clock, started_at) = (Instant::now(), timestamp());
    let CallResult { result, recording, notes } = agent_call::call(prepared, input, turn);
    let (took, span) = (clock.elapsed(), (started_at, timestamp()));
    let mut called = Called { result, recording, notes, took, span, after: snapshot_after(prepared, before) };
    called.result = called.result.and_then(|outcome| with_own_files(prepared, outcome, &called.recording));
    if let Ok(outcome) = &called.result {
        let changes = match (before, &called.after) {
            (Ok(before), Ok(after)) => {
                ReplayableChanges::between(before, after, &prepared.trial.workspace, cassette.placeholders())
                    .unwrap_or_else(|error| ReplayableChanges::unrecorded(&error))
            }
            (Err(error), _) | (_, Err(error)) => ReplayableChanges::unrecorded(error),
        };
        let call = AgentCall::new(outcome, &called.recording, called.took, called.span.clone(), changes);
        if let Err(error) = cassette.keep_call(call) {
            called.result = Err(EarlyEnd::error(Stage::Capture, ReasonCode::RecordingFailed, error.to_string()));
        }
    }
    Ok(called)
}

fn snapshot_after(prepared: &Prepared<'_>, before: Result<&Snapshot, &io::Error>) -> io::Result<Snapshot> {
    let workspace = &prepared.trial.workspace;
    before.map_or_else(|_| Snapshot::take(workspace), |before| before.take_later(workspace))
}

fn replay(prepared: &Prepared<'_>, before: Result<&Snapshot, &io::Error>) -> Result<Called, EarlyEnd> {
    let Some(call) = prepared.cassette.next_call() else {
        let message = format!(
            "the recording has fewer calls of the agent than the case; {}",
            prepared.trial.plan.how_to_record()
        );
        return Err(EarlyEnd::error(Stage::Agent, ReasonCode::RecordingStale, message));
    };
    match &call.workspace.left_out {
        Some(reason) => copy_earlier_workspace(prepared, reason)?,
        None => {
            let applied = call.workspace.apply(&prepared.trial.workspace);
            applied.map_err(|error| changes_not_replayed(&error.to_string()))?;
        }
    }
    let after = match before {
        Ok(before) if call.workspace.are_none() => Ok(before.clone()),
        before => snapshot_after(prepared, before),
    };
    let recording = call.recording();
    Ok(Called {
        result: with_own_files(prepared, call.outcome(), &recording),
        recording,
        notes: Vec::new(),
        took: Duration::from_millis(call.took_ms),
        span: (call.started_at, call.ended_at),
        after,
    })
}

/// The outcome, if all files of its answers may be opened for graders and judges.
fn with_own_files(prepared: &Prepared<'_>, outcome: Outcome, recording: &Recording) -> Result<Outcome, EarlyEnd> {
    let files = prepared.answer_files();
    let messages = outcome.messages.as_deref().or_else(|| recording.transcript()).unwrap_or_default();
    let answers = messages.iter().filter(|message| message.role == Role::Assistant);
    for file in named_files(answers) {
        files.check(file).map_err(|error| {
            let message = format!(
                "the file `{}` of the answer {error}; the files of an answer are in the workspace or the trial's directory",
                file.written
            );
            EarlyEnd::error(Stage::Agent, ReasonCode::AgentError, message)
        })?;
    }
    Ok(outcome)
}

fn changes_not_replayed(error: &str) -> EarlyEnd {
    let message = format!("the agent's changes to the workspace cannot be replayed: {error}");
    EarlyEnd::error(Stage::Workspace, ReasonCode::WorkspaceError, message)
}

/// Changes that were too large to record are replayed from the earlier workspace, if it is still there.
fn copy_earlier_workspace(prepared: &Prepared<'_>, reason: &str) -> Result<(), EarlyEnd> {
    let trial = prepared.trial;
    let earlier = match &trial.plan.regraded {
        Some(Ok(earlier)) => earlier.trial(trial.index).join("workspace"),
        _ => return Err(changes_not_replayed(reason)),
    };
    if !earlier.is_dir() {
        let message = format!(
            "the workspace of the earlier run is gone, and the agent's changes to it were not recorded: {reason}; \
             run the test with EVALSUITE_KEEP=1 to keep the next workspace"
        );
        prepared.cassette.lose_workspace(message);
        return Ok(());
    }
    workspace::copy_to_trial(&earlier, &trial.workspace).map_err(|error| changes_not_replayed(&error.to_string()))
}
