//! The record of a trial, part by part.

use std::{fs, path::Path};

use evalsuite_schema::record::{Note, TrialRecord};
use serde_json::Value;

use crate::{
    model::{evidence, outcome::Outcome, recording::Recording},
    platform::{clock::timestamp, excerpt::first_bytes},
    run::plan::Plan,
    workspace::workspace_diff::WorkspaceDiff,
};

/// Bytes of an answer that are kept in the record.
const ANSWER_LIMIT: usize = 64 * 1024;

/// The record of a trial of which nothing is known yet.
pub(crate) fn blank(plan: &Plan<'_>, index: u32, attempt: u32) -> TrialRecord {
    let now = timestamp();
    let mut record = TrialRecord::new();
    record.run_id = plan.run.run_id.clone();
    record.suite = plan.suite.name.to_owned();
    record.suite_digest = plan.suite_data.digest.clone();
    record.layout = plan.suite_data.layout;
    record.kind = plan.suite_data.kind;
    record.case_id = plan.entry.id.to_owned();
    record.case_key = plan.case_key.clone();
    record.case_digest = plan.digests.case.clone();
    record.input_digest = plan.digests.input.clone();
    record.grader_digest = plan.digests.graders.clone();
    record.test_name = plan.suite.test_path(plan.entry);
    record.target = plan.target.clone();
    record.agent = plan.agent_name.clone();
    record.location = plan.location();
    record.trial = index;
    record.trials_planned = plan.planned;
    record.attempt = attempt;
    record.runner_attempt = plan.settings.runner.attempt;
    record.mode = plan.settings.mode;
    record.regraded_run = plan.regraded.as_ref().and_then(|found| Some(found.as_ref().ok()?.run_id.clone()));
    record.requested_by = plan.requested_by.map(str::to_owned);
    record.threshold = plan.threshold;
    record.started_at = now.clone();
    record.ended_at = now;
    record.dependencies = plan.dependencies.outcomes();
    record.metadata = plan.case.metadata.clone();
    record.tags = plan.entry.tags.iter().map(|tag| (*tag).to_owned()).collect();
    record.category = plan.suite_data.category.clone();
    record.conversation_id = plan.case.conversation_id.clone();
    record.failure_bucket = plan.case.metadata.get("failure_bucket").and_then(Value::as_str).map(str::to_owned);
    record.versions = plan.versions();
    record
}

/// What the agent reported, in the record.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the duration was checked to be at least 0, and a float that is too large saturates"
)]
pub(crate) fn report(facts: &evidence::Facts, outcome: Outcome, record: &mut TrialRecord) {
    let (answer, truncated) = first_of_answer(&facts.answer);
    (record.answer, record.answer_truncated) = (Some(answer), truncated);
    record.usage = facts.usage;
    record.cost_usd = facts.cost_usd;
    record.duration_ms = Some(facts.duration_ms.round() as u64);
    record.model = outcome.model.or(record.model.take());
    record.state = outcome.state;
    record.agent_metadata = outcome.metadata;
}

/// As much of an answer as a record holds, and whether that is less than all.
pub(crate) fn first_of_answer(answer: &str) -> (String, bool) {
    let shown = first_bytes(answer, ANSWER_LIMIT);
    (shown.to_owned(), shown.len() < answer.len())
}

pub(crate) fn keep_log(plan: &Plan<'_>, directory: &Path, recording: &Recording, record: &mut TrialRecord) {
    if !recording.log.is_empty() {
        keep(&directory.join("log.txt"), &plan.redactor.apply(&recording.log), record);
    }
}

pub(crate) fn keep_changes(plan: &Plan<'_>, directory: &Path, changes: &WorkspaceDiff, record: &mut TrialRecord) {
    let patch = (!changes.diff.is_empty()
        && keep(&directory.join("diff.patch"), &plan.redactor.apply(&changes.diff), record))
    .then(|| "diff.patch".to_owned());
    if let Some(workspace) = &mut record.workspace {
        workspace.created.clone_from(&changes.files.created);
        workspace.modified.clone_from(&changes.files.modified);
        workspace.deleted.clone_from(&changes.files.deleted);
        workspace.snippets.clone_from(&changes.snippets);
        workspace.patch = patch;
    }
}

/// Writes a file beside the record; a failure is noted, for the record itself is still to come.
fn keep(path: &Path, text: &str, record: &mut TrialRecord) -> bool {
    match fs::write(path, text) {
        Ok(()) => true,
        Err(error) => {
            record.notes.push(Note::new("output_not_kept", format!("{}: {error}", path.display())));
            false
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use evalsuite_schema::record::CaseOutcome;

    use super::*;

    /// The record of a trial that has ended, with nothing else in it.
    pub(crate) fn ended(outcome: CaseOutcome) -> TrialRecord {
        let mut record = TrialRecord::new();
        record.outcome = outcome;
        record
    }
}
