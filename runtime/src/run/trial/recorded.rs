//! An agent's call and its recording: what is called is kept, what is replayed is not called.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use evalsuite_schema::record::{CaseOutcome, Mode, Note, ReasonCode, Stage, TrialRecord};

use crate::{
    record::cassette::{About, AgentCall, Opening, TrialCassette, Unusable},
    run::{
        plan::Plan,
        regrade::EVIDENCE,
        trial::{
            Stop, Trial,
            agent::{self, Ask, Call},
        },
    },
    workspace::{self, replayable_changes::ReplayableChanges, snapshot::Snapshot, value_placeholders::Placeholders},
};

/// The recording of a trial: to be written, or to be read in place of calling anybody.
///
/// # Errors
///
/// If the trial has to be had from a recording that does not exist or was made for something else.
pub(crate) fn open(plan: &Plan<'_>, index: u32, directory: &Path, workspace: &Path) -> Result<TrialCassette, Stop> {
    let mode = plan.settings.mode;
    let secrets = plan.secrets.iter().map(String::as_str);
    let placeholders = Placeholders::of_trial(secrets, &plan.places, directory, workspace);
    let about = About {
        suite: plan.suite.name.to_owned(),
        case_id: plan.entry.id.to_owned(),
        target: plan.target.clone(),
        trial: index,
        seen: plan.seen.clone(),
    };
    let (path, hint) = match mode {
        Mode::Record | Mode::Replay => {
            let path = plan
                .recording(index)
                .map_err(|message| Stop::error(Stage::Setup, ReasonCode::InvalidSetting, message))?;
            (Some(path), format!("to record it: `EVALSUITE_MODE=record {}`", repeat(plan)))
        }
        Mode::Regrade => (Some(stored(plan, index)?), format!("to have a new one: `{}`", repeat(plan))),
        // Its judges reply as they once did.
        _ if plan.judges_are_recorded() => {
            (plan.recording(index).ok(), format!("to record it: `EVALSUITE_MODE=record {}`", repeat(plan)))
        }
        _ => (None, String::new()),
    };
    TrialCassette::open(Opening { mode, path, placeholders, about, hint, has_agent: true }).map_err(unusable)
}

/// Where the evidence of an earlier run is.
fn stored(plan: &Plan<'_>, index: u32) -> Result<PathBuf, Stop> {
    let earlier = match &plan.regraded {
        Some(Ok(earlier)) => earlier,
        Some(Err(Unusable { code, message })) => return Err(Stop::error(Stage::Setup, *code, message.clone())),
        None => return Err(Stop::error(Stage::Setup, ReasonCode::RecordingMissing, "no earlier run is given")),
    };
    let path = earlier.trial(index).join(EVIDENCE);
    // Where the agent came to no outcome there is nothing to grade, then as now.
    if !path.is_file()
        && let Some(record) = earlier.record(index)
        && let Some(mut reason) = record.reason
        && matches!(record.outcome, CaseOutcome::Error | CaseOutcome::Skipped)
    {
        reason.message = format!("in run {}: {}", earlier.run_id, reason.message);
        return Err(Stop { outcome: record.outcome, reason });
    }
    Ok(path)
}

fn repeat(plan: &Plan<'_>) -> String {
    format!("cargo test -p {} -- --exact {}", plan.suite.package, plan.suite.test_path(plan.entry))
}

fn unusable(Unusable { code, message }: Unusable) -> Stop {
    Stop::error(Stage::Setup, code, message)
}

/// Calls the agent and keeps what it did, or does again what is recorded.
///
/// # Errors
///
/// If it cannot be replayed.
pub(crate) fn call(trial: &Trial<'_>, ask: &Ask<'_>) -> Result<Call, Stop> {
    let cassette = &trial.cassette;
    if !cassette.is_live() {
        return replay(trial);
    }
    let before = Snapshot::take(&trial.workspace);
    let mut call = agent::call(trial, ask);
    if let Ok(outcome) = &call.result {
        let changes = before
            .and_then(|before| {
                let after = before.take_later(&trial.workspace)?;
                ReplayableChanges::between(&before, &after, &trial.workspace, cassette.placeholders())
            })
            .unwrap_or_else(|error| ReplayableChanges::unrecorded(&error));
        let kept = AgentCall::new(outcome, &call.recording, call.took, call.span.clone(), changes);
        if let Err(message) = cassette.keep_call(kept) {
            call.result = Err(Stop::error(Stage::Capture, ReasonCode::RecordingFailed, message));
        }
    }
    Ok(call)
}

fn replay(trial: &Trial<'_>) -> Result<Call, Stop> {
    let Some(kept) = trial.cassette.next_call() else {
        let message = format!(
            "the recording has fewer calls of the agent than the case; record it again: `EVALSUITE_MODE=record {}`",
            repeat(trial.plan)
        );
        return Err(Stop::error(Stage::Agent, ReasonCode::RecordingStale, message));
    };
    let laid = match &kept.workspace.left_out {
        Some(reason) => lay_kept_workspace(trial, reason),
        None => kept.workspace.apply(&trial.workspace).map_err(|error| error.to_string()),
    };
    laid.map_err(|error| {
        let message = format!("what the agent did to its workspace cannot be done again: {error}");
        Stop::error(Stage::Workspace, ReasonCode::WorkspaceError, message)
    })?;
    Ok(Call {
        result: Ok(kept.outcome()),
        recording: kept.recording(),
        notes: Vec::new(),
        took: Duration::from_millis(kept.took_ms),
        span: (kept.started_at, kept.ended_at),
    })
}

/// Where the contents were too large to keep, the workspace itself may still be there.
fn lay_kept_workspace(trial: &Trial<'_>, reason: &str) -> Result<(), String> {
    let kept = match &trial.plan.regraded {
        Some(Ok(earlier)) => earlier.trial(trial.index).join("workspace"),
        _ => return Err(reason.to_owned()),
    };
    if !kept.is_dir() {
        let message = format!(
            "the workspace of the earlier run is gone, and what the agent changed in it was not stored: {reason}; \
             run the test with EVALSUITE_KEEP=1 to have one that stays"
        );
        trial.cassette.lose_workspace(message);
        return Ok(());
    }
    workspace::copy_to_trial(&kept, &trial.workspace).map_err(|error| error.to_string())
}

/// Keeps what grading again needs beside the record, before the graders: they may break or never end.
pub(crate) fn keep_evidence(trial: &Trial<'_>, record: &mut TrialRecord) {
    let Some(file) = trial.cassette.to_file() else { return };
    let path = trial.directory.join(EVIDENCE);
    if let Err(error) = file.write_quickly(&path, trial.cassette.placeholders()) {
        record.notes.push(Note::new("output_not_kept", format!("{}: {error}", path.display())));
    }
}

/// Adds the judges' replies to the evidence.
pub(crate) fn keep_replies(trial: &Trial<'_>, record: &mut TrialRecord) {
    if trial.cassette.has_replies() {
        keep_evidence(trial, record);
    }
}
