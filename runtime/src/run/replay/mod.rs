//! Earlier results that replace calls: recordings of agents and judges, and complete results of cases.

pub(crate) mod earlier_recording;
pub(crate) mod regrade;
pub(crate) mod reuse;

use std::path::{Path, PathBuf};

use evalsuite_records::record::{Mode, Reason, ReasonCode, Stage, Status};

use crate::record::cassette::{AgentCall, TrialCassette};
use crate::record::earlier_trials::is_without_outcome;
use crate::record::run_directory::layout::EVIDENCE;
use crate::run::plan::Plan;
use crate::run::replay::earlier_recording::{RecordingOptions, open};
use crate::workspace;

/// Outcome of a trial that has no recording, and the reason.
type End = (Status, Reason);

/// Opens the recording of a trial: to be written, or to be read instead of calling the agent.
pub(crate) fn open_for_trial(plan: &Plan<'_>, index: u32, cassette: &TrialCassette) -> Result<(), End> {
    let mode = plan.settings.mode;
    let mut options = RecordingOptions { mode, path: None, hint: plan.how_to_record(), has_agent: true };
    match mode {
        Mode::Record | Mode::Replay => options.path = Some(plan.recording(index).map_err(error)?),
        Mode::Regrade => {
            options.path = Some(earlier_evidence(plan, index)?);
            options.hint = format!("to make one: `{}`", plan.rerun());
        }
        // Judges that are not configured reply from the recording.
        _ if plan.judges_are_recorded() => options.path = plan.recording(index).ok(),
        _ => {}
    }
    open(cassette, options).map_err(error)
}

/// Takes a call of the agent from the recording of a trial, and makes its changes to the workspace; `None` if the agent is called. `turn` is
/// the index of the turn in a conversation.
pub(crate) fn next_call(
    plan: &Plan<'_>,
    index: u32,
    turn: Option<u32>,
    cassette: &TrialCassette,
    workspace: &Path,
) -> Result<Option<AgentCall>, End> {
    if plan.calls_agent() {
        return Ok(None);
    }
    let call = match cassette.next_call() {
        Ok(call) => call,
        Err(message) => {
            let end = turn.and_then(|turn| plan.earlier_trials()?.end_in_turn(index, turn));
            return Err(end.unwrap_or_else(|| error(Reason::new(Stage::Agent, ReasonCode::RecordingStale, message))));
        }
    };
    match &call.workspace.left_out {
        Some(reason) => copy_earlier_workspace(plan, index, reason, cassette, workspace)?,
        None => call.workspace.apply(workspace).map_err(|error| changes_not_replayed(&error.to_string()))?,
    }
    Ok(Some(call))
}

fn error(reason: Reason) -> End {
    (Status::Error, reason)
}

fn changes_not_replayed(cause: &str) -> End {
    let message = format!("the agent's changes to the workspace cannot be replayed: {cause}");
    error(Reason::new(Stage::Workspace, ReasonCode::WorkspaceError, message))
}

/// Changes that were too large to record are replayed from the earlier workspace, if it is still there.
fn copy_earlier_workspace(
    plan: &Plan<'_>,
    index: u32,
    reason: &str,
    cassette: &TrialCassette,
    workspace: &Path,
) -> Result<(), End> {
    let earlier = plan.earlier_trials().ok_or_else(|| changes_not_replayed(reason))?;
    let earlier = earlier.trial(index).join("workspace");
    if !earlier.is_dir() {
        let message = format!(
            "the workspace of the earlier run is gone, and the agent's changes to it were not recorded: {reason}; \
             run the test with EVALSUITE_KEEP=1 to keep the next workspace"
        );
        cassette.lose_workspace(message);
        return Ok(());
    }
    workspace::copy_to_trial(&earlier, workspace).map_err(|error| changes_not_replayed(&error.to_string()))
}

/// The file with the evidence of an earlier run, which is graded again.
fn earlier_evidence(plan: &Plan<'_>, index: u32) -> Result<PathBuf, End> {
    let earlier = match &plan.regraded {
        Some(Ok(earlier)) => earlier,
        Some(Err(reason)) => return Err(error(reason.clone())),
        None => return Err(error(Reason::new(Stage::Setup, ReasonCode::RecordingMissing, "no earlier run is given"))),
    };
    let path = earlier.trial(index).join(EVIDENCE);
    // An agent without an outcome left nothing to grade: the trial ends as it did in the earlier run, whatever file is there. A conversation is
    // graded until the turn in which it ended.
    let is_of_call = |end: &End| plan.case.conversation.is_none() && is_without_outcome(end.1.stage);
    if let Some(end) = earlier.end(index, "").filter(|end| is_of_call(end) || !path.is_file()) {
        return Err(end);
    }
    Ok(path)
}
