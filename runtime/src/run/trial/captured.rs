//! A trial whose results are captured: changes, answer and usage of the agent, for graders and the record.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use evalsuite_records::record::{ReasonCode, Stage};

use crate::model::evidence::{Evidence, Facts};
use crate::model::outcome::Outcome;
use crate::model::recording::Recording;
use crate::platform::excerpt::first_bytes;
use crate::run::limits;
use crate::run::selection::targets::ChosenAgent;
use crate::run::trial::called::Called;
use crate::run::trial::prepared::Prepared;
use crate::run::trial::reported_transcript::{self, known_spending};
use crate::run::trial::trial_attempt::{EarlyEnd, TrialAttempt, whole_millis};
use crate::workspace::snapshot::Snapshot;
use crate::workspace::workspace_diff::WorkspaceDiff;

/// Bytes of an answer that a record holds.
const ANSWER_LIMIT: usize = 64 * 1024;

/// As much of an answer as a record holds, and whether there is more of it.
pub(crate) fn first_of_answer(answer: &str) -> (String, bool) {
    let shown = first_bytes(answer, ANSWER_LIMIT);
    (shown.to_owned(), shown.len() < answer.len())
}

/// What is known of the work of an agent that was called.
#[derive(Debug)]
pub(crate) struct Captured {
    pub(crate) evidence: Evidence<'static>,
    /// Whether the agent gave an answer: that of its evidence may stand for none.
    pub(crate) has_answer: bool,
    /// Why it is not graded.
    pub(crate) end: Option<EarlyEnd>,
}

impl Captured {
    /// The answer as the record has it, and whether there is more of it.
    pub(crate) fn answer(&self) -> Option<(String, bool)> {
        self.has_answer.then(|| first_of_answer(self.evidence.answer()))
    }
}

/// Captures what one call of the agent left.
pub(crate) fn capture(prepared: &Prepared<'_>, before: &Snapshot, mut called: Called) -> Captured {
    let trial = prepared.trial;
    write_agent_log(trial, &called.recording);
    let changes = capture_workspace(trial, before, &called.after).unwrap_or_else(|end| {
        called.fail(end);
        WorkspaceDiff::default()
    });
    let Called { result, recording, notes, took, span, .. } = called;
    trial.add_notes(notes);
    let mut outcome = match result {
        Ok(outcome) => outcome,
        Err(end) => {
            return Captured { end: Some(end), ..interrupted(recording, whole_millis(took) as f64) };
        }
    };
    prepared.write_evidence();
    outcome.model = outcome.model.or_else(|| recording.captured.model.clone());
    let is_reported = reported_transcript::is_reported(&outcome, &recording);
    let mut facts = evidence_facts(prepared, outcome, &recording, took, span, changes);
    facts.tools = recording.captured.tools;
    let captured = complete(trial, facts);
    if let Some(missing) = recording.captured.missing.filter(|_| !is_reported) {
        trial.note("spans_not_seen", missing.message);
    }
    captured
}

/// The work of an agent that returned an outcome.
pub(crate) fn complete(trial: &TrialAttempt<'_>, facts: Facts) -> Captured {
    if facts.cost_usd.is_none() {
        trial.add_notes(limits::without_effect(trial.plan));
    }
    Captured { evidence: Evidence::new(facts), has_answer: true, end: None }
}

/// The work of an agent that returned no outcome, or whose workspace cannot be read.
pub(crate) fn interrupted(recording: Recording, duration_ms: f64) -> Captured {
    let (usage, cost_usd) = known_spending(&recording);
    let (answer, transcript) = reported_transcript::assemble(&recording.outcome, &recording);
    let Outcome { text, state, model, metadata, .. } = recording.outcome;
    // What the agent said last before it ended, whether it returned it or not.
    let has_answer = text.is_some() || !answer.is_empty();
    let facts = Facts {
        answer,
        transcript,
        usage,
        cost_usd,
        duration_ms,
        state,
        model: model.or(recording.captured.model),
        agent_metadata: metadata,
        tools: recording.captured.tools,
        ..Facts::default()
    };
    Captured { evidence: Evidence::new(facts), has_answer, end: None }
}

/// Writes what the agent logged next to the record.
pub(crate) fn write_agent_log(trial: &TrialAttempt<'_>, recording: &Recording) {
    if !recording.log.is_empty() {
        trial.write_text("log.txt", &recording.log);
    }
}

/// What the agent changed in the workspace, for the record and for graders; the patch is written next to the record.
pub(crate) fn capture_workspace(
    trial: &TrialAttempt<'_>,
    before: &Snapshot,
    after: &io::Result<Snapshot>,
) -> Result<WorkspaceDiff, EarlyEnd> {
    let changes = changes_between(before, after);
    if let Ok(changes) = &changes {
        let has_patch = !changes.diff.is_empty() && trial.write_text("diff.patch", &changes.diff);
        let mut journal = trial.journal.borrow_mut();
        let record = journal.workspace.get_or_insert_default();
        record.patch = has_patch.then(|| "diff.patch".to_owned());
        record.created.clone_from(&changes.files.created);
        record.modified.clone_from(&changes.files.modified);
        record.deleted.clone_from(&changes.files.deleted);
        record.snippets.clone_from(&changes.snippets);
    }
    for (when, snapshot) in [("before", Some(before)), ("after", after.as_ref().ok())] {
        if let Some(left_out) = snapshot.map(Snapshot::left_out).filter(|left_out| !left_out.is_empty()) {
            trial.note("workspace_left_out", format!("of the workspace {when} the agent's work, {left_out}"));
        }
    }
    changes
}

/// What changed in the workspace.
pub(crate) fn changes_between(before: &Snapshot, after: &io::Result<Snapshot>) -> Result<WorkspaceDiff, EarlyEnd> {
    match after {
        Ok(after) => Ok(WorkspaceDiff::between(before, after)),
        Err(error) => {
            let message = format!("the workspace cannot be read: {error}");
            Err(EarlyEnd::error(Stage::Capture, ReasonCode::WorkspaceError, message))
        }
    }
}

/// What graders see.
pub(crate) fn evidence_facts(
    prepared: &Prepared<'_>,
    outcome: Outcome,
    recording: &Recording,
    took: Duration,
    (started_at, ended_at): (String, String),
    changes: WorkspaceDiff,
) -> Facts {
    let Prepared { trial, case, .. } = prepared;
    let plan = trial.plan;
    let (answer, transcript) = reported_transcript::assemble(&outcome, recording);
    let is_rust = matches!(plan.agent, ChosenAgent::Rust(_));
    Facts {
        tags: plan.tags(),
        trial: trial.index,
        answer,
        unknown: reported_transcript::unknown_work(&outcome, recording, is_rust),
        usage: reported_transcript::usage(&outcome, recording, transcript.as_deref()),
        cost_usd: reported_transcript::cost(&outcome, recording, transcript.as_deref()),
        transcript,
        duration_ms: outcome.duration_ms.unwrap_or_else(|| whole_millis(took) as f64),
        started_at,
        ended_at,
        state: outcome.state,
        files: prepared.answer_files(),
        model: outcome.model,
        agent_metadata: outcome.metadata,
        changes: changes.files,
        diff: changes.diff,
        dependencies: Arc::clone(&plan.dependencies),
        ..Facts::of_case(case, &plan.identity.target)
    }
}
