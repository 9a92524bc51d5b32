use std::{sync::Arc, time::Duration};

use evalsuite_schema::record::{ReasonCode, Stage, TrialRecord};

use crate::{
    model::{evidence, outcome::Outcome, recording::Recording},
    run::{
        transcript,
        trial::{Stop, Trial, whole_millis},
        trial_record::keep_changes,
    },
    workspace::{snapshot::Snapshot, workspace_diff::WorkspaceDiff},
};

/// The workspace before the agent comes.
pub(crate) fn snapshot(trial: &Trial<'_>) -> Result<Snapshot, Stop> {
    Snapshot::take(&trial.workspace).map_err(|error| unreadable(Stage::Workspace, &error))
}

/// What the agent changed in the workspace, kept in the record.
pub(crate) fn changes(trial: &Trial<'_>, before: &Snapshot, record: &mut TrialRecord) -> Result<WorkspaceDiff, Stop> {
    let changes = changes_so_far(trial, before)?;
    keep_changes(trial.plan, &trial.directory, &changes, record);
    Ok(changes)
}

/// What the agent changed until now, kept nowhere.
pub(crate) fn changes_so_far(trial: &Trial<'_>, before: &Snapshot) -> Result<WorkspaceDiff, Stop> {
    let after = before.take_later(&trial.workspace).map_err(|error| unreadable(Stage::Capture, &error))?;
    Ok(WorkspaceDiff::between(before, &after))
}

fn unreadable(stage: Stage, error: &std::io::Error) -> Stop {
    Stop::error(stage, ReasonCode::WorkspaceError, format!("the workspace cannot be read: {error}"))
}

/// What graders see.
pub(crate) fn facts(
    trial: &Trial<'_>,
    outcome: &Outcome,
    recording: &Recording,
    took: Duration,
    (started_at, ended_at): (String, String),
    changes: WorkspaceDiff,
) -> evidence::Facts {
    let Trial { plan, case, index, workspace, .. } = trial;
    let (answer, reported) = transcript::assemble(outcome, recording);
    evidence::Facts {
        case_id: case.id.clone(),
        description: case.description.clone(),
        criteria: case.criteria.clone(),
        input: Some(case.input.clone()),
        metadata: case.metadata.clone(),
        tags: plan.entry.tags.iter().map(|tag| (*tag).to_owned()).collect(),
        target: plan.target.clone(),
        trial: *index,
        expected_output: case.expected_output.clone(),
        reference_solution: case.reference_solution.clone(),
        answer,
        usage: transcript::usage(outcome, recording, reported.as_deref()),
        cost_usd: transcript::cost(outcome, recording, reported.as_deref()),
        transcript: reported,
        turns: Vec::new(),
        is_conversation: false,
        duration_ms: outcome.duration_ms.unwrap_or_else(|| as_number(whole_millis(took))),
        started_at,
        ended_at,
        state: outcome.state.clone(),
        workspace: workspace.clone(),
        changes: changes.files,
        diff: changes.diff,
        dependencies: Arc::clone(&plan.dependencies),
    }
}

#[allow(clippy::cast_precision_loss, reason = "durations are far below 2^53 ms")]
fn as_number(millis: u64) -> f64 {
    millis as f64
}
