//! The record of a trial, part by part.

use std::{fs, path::Path};

use evalsuite_schema::{
    Object,
    record::{CaseOutcome, Note, Timings, TrialRecord},
};
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
    TrialRecord {
        schema: TrialRecord::SCHEMA.to_owned(),
        run_id: plan.run.run_id.clone(),
        suite: plan.suite.name.to_owned(),
        suite_digest: plan.suite_data.digest.clone(),
        layout: plan.suite_data.layout,
        kind: plan.suite_data.kind,
        case_id: plan.entry.id.to_owned(),
        case_key: plan.case_key.clone(),
        case_digest: plan.digests.case.clone(),
        input_digest: plan.digests.input.clone(),
        grader_digest: plan.digests.graders.clone(),
        test_name: plan.suite.test_path(plan.entry),
        target: plan.target.clone(),
        agent: plan.agent_name.clone(),
        location: plan.location(),
        trial: index,
        trials_planned: plan.planned,
        attempt,
        runner_attempt: plan.settings.runner.attempt,
        mode: plan.settings.mode,
        regraded_run: plan.regraded.as_ref().and_then(|found| Some(found.as_ref().ok()?.run_id.clone())),
        requested_by: plan.requested_by.map(str::to_owned),
        outcome: CaseOutcome::Error,
        reason: None,
        score: None,
        threshold: plan.threshold,
        started_at: now.clone(),
        ended_at: now,
        timings: Timings::default(),
        duration_ms: None,
        usage: None,
        judge_usage: None,
        cost_usd: None,
        judge_cost_usd: None,
        model: None,
        answer: None,
        answer_truncated: false,
        state: Object::new(),
        agent_metadata: Object::new(),
        graders: Vec::new(),
        turns: None,
        workspace: None,
        hooks: Vec::new(),
        notes: Vec::new(),
        trajectory: None,
        dependencies: plan.dependencies.outcomes(),
        metadata: plan.case.metadata.clone(),
        tags: plan.entry.tags.iter().map(|tag| (*tag).to_owned()).collect(),
        category: plan.suite_data.category.clone(),
        conversation_id: plan.case.conversation_id.clone(),
        failure_bucket: plan.case.metadata.get("failure_bucket").and_then(Value::as_str).map(str::to_owned),
        versions: plan.versions(),
    }
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
    use std::collections::BTreeMap;

    use evalsuite_schema::{Kind, Layout, Location, record::Versions};

    use super::*;

    /// A record that says nothing yet.
    pub(crate) fn record() -> TrialRecord {
        TrialRecord {
            schema: TrialRecord::SCHEMA.to_owned(),
            run_id: String::new(),
            suite: String::new(),
            suite_digest: String::new(),
            layout: Layout::Cases,
            kind: Kind::Mixed,
            case_id: "c".to_owned(),
            case_key: String::new(),
            case_digest: String::new(),
            input_digest: String::new(),
            grader_digest: String::new(),
            test_name: String::new(),
            target: String::new(),
            agent: String::new(),
            location: Location::new("f", 1, 1),
            trial: 0,
            trials_planned: 1,
            attempt: 0,
            runner_attempt: 1,
            requested_by: None,
            mode: evalsuite_schema::record::Mode::Live,
            regraded_run: None,
            outcome: CaseOutcome::Error,
            reason: None,
            score: None,
            threshold: 1.0,
            started_at: String::new(),
            ended_at: String::new(),
            timings: Timings::default(),
            duration_ms: None,
            usage: None,
            judge_usage: None,
            cost_usd: None,
            judge_cost_usd: None,
            model: None,
            answer: None,
            answer_truncated: false,
            state: Object::new(),
            agent_metadata: Object::new(),
            graders: Vec::new(),
            turns: None,
            workspace: None,
            hooks: Vec::new(),
            notes: Vec::new(),
            trajectory: None,
            dependencies: BTreeMap::new(),
            metadata: Object::new(),
            tags: Vec::new(),
            category: None,
            conversation_id: None,
            failure_bucket: None,
            versions: Versions::default(),
        }
    }
}
