//! A trial whose results are captured: changes, answer and usage of the agent, for graders and the record.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use evalsuite_records::record::{ReasonCode, Stage, TurnRecord, Usage, WorkspaceRecord};
use evalsuite_schema::{Object, Value};

use crate::model::evidence::{self, Evidence};
use crate::model::outcome::Outcome;
use crate::model::recording::Recording;
use crate::platform::excerpt::first_bytes;
use crate::run::limits;
use crate::run::selection::chosen_agent::ChosenAgent;
use crate::run::trial::called::Called;
use crate::run::trial::early_end::EarlyEnd;
use crate::run::trial::prepared::Prepared;
use crate::run::trial::reported_transcript;
use crate::run::trial::trial_attempt::whole_millis;
use crate::workspace::snapshot::Snapshot;
use crate::workspace::workspace_diff::WorkspaceDiff;

/// Bytes of an answer that a record holds.
const ANSWER_LIMIT: usize = 64 * 1024;

/// What is known of a trial whose agent returned an outcome.
pub(crate) struct Captured {
    /// What graders see.
    pub(crate) evidence: Evidence<'static>,
    /// Tools that were offered to the agent's models.
    pub(crate) tools: Vec<Value>,
    pub(crate) report: AgentReport,
    pub(crate) workspace: WorkspaceRecord,
}

/// What is known of a trial whose agent returned no outcome, or whose workspace cannot be read.
pub(crate) struct Interrupted {
    pub(crate) end: EarlyEnd,
    /// What the agent recorded until then.
    pub(crate) recording: Recording,
    pub(crate) report: AgentReport,
    pub(crate) workspace: WorkspaceRecord,
    /// Turns of a conversation until then.
    pub(crate) turns: Option<Vec<TurnRecord>>,
}

/// What an agent reported, as the record says it.
#[derive(Debug, Default)]
pub(crate) struct AgentReport {
    /// The beginning of the answer, and whether there is more of it.
    pub(crate) answer: Option<(String, bool)>,
    pub(crate) duration_ms: Option<u64>,
    pub(crate) usage: Option<Usage>,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) model: Option<String>,
    pub(crate) state: Object,
    pub(crate) metadata: Object,
}

impl AgentReport {
    /// Of a call without an outcome: what was reported until it ended.
    fn of_recording(recording: &Recording, took: Duration) -> Self {
        let reported = recording.outcome.clone();
        Self {
            answer: reported.text.as_deref().map(first_of_answer),
            duration_ms: Some(whole_millis(took)),
            usage: recording.known_usage(),
            cost_usd: recording.known_cost(),
            model: reported.model.or_else(|| recording.captured.model.clone()),
            state: reported.state,
            metadata: reported.metadata,
        }
    }

    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the duration was checked to be at least 0, and a float that is too large saturates"
    )]
    fn of_outcome(facts: &evidence::Facts, outcome: Outcome) -> Self {
        Self {
            answer: Some(first_of_answer(&facts.answer)),
            duration_ms: Some(facts.duration_ms.round() as u64),
            usage: facts.usage,
            cost_usd: facts.cost_usd,
            model: outcome.model,
            state: outcome.state,
            metadata: outcome.metadata,
        }
    }
}

/// As much of an answer as a record holds, and whether there is more of it.
pub(crate) fn first_of_answer(answer: &str) -> (String, bool) {
    let shown = first_bytes(answer, ANSWER_LIMIT);
    (shown.to_owned(), shown.len() < answer.len())
}

/// Captures what one call of the agent left.
pub(crate) fn capture(
    prepared: &Prepared<'_>,
    before: &Snapshot,
    called: Called,
) -> Result<Box<Captured>, Box<Interrupted>> {
    let log = &prepared.trial.log;
    let Called { result, recording, notes, took, span, after } = called;
    log.add_notes(notes);
    write_agent_log(prepared, &recording);
    let (workspace, changes) = captured_workspace(prepared, before, &after);
    let (mut outcome, changes) = match result.and_then(|outcome| Ok((outcome, changes?))) {
        Ok(both) => both,
        Err(end) => {
            let report = AgentReport::of_recording(&recording, took);
            return Err(Box::new(Interrupted { end, recording, report, workspace, turns: None }));
        }
    };
    prepared.write_evidence();
    outcome.model = outcome.model.or_else(|| recording.captured.model.clone());
    let facts = evidence_facts(prepared, &outcome, &recording, took, span, changes);
    let is_reported = reported_transcript::is_reported(&outcome, &recording);
    let missing = recording.captured.missing.filter(|_| !is_reported);
    let captured = captured_outcome(prepared, facts, outcome, recording.captured.tools, workspace);
    if let Some(missing) = missing {
        log.note("spans_not_seen", missing.message);
    }
    Ok(Box::new(captured))
}

/// What graders and the record see of an outcome.
pub(crate) fn captured_outcome(
    prepared: &Prepared<'_>,
    facts: evidence::Facts,
    outcome: Outcome,
    tools: Vec<Value>,
    workspace: WorkspaceRecord,
) -> Captured {
    let report = AgentReport::of_outcome(&facts, outcome);
    if report.cost_usd.is_none() {
        prepared.trial.log.add_notes(limits::without_effect(prepared.trial.plan));
    }
    Captured { evidence: Evidence::new(facts), tools, report, workspace }
}

/// Writes what the agent logged next to the record.
pub(crate) fn write_agent_log(prepared: &Prepared<'_>, recording: &Recording) {
    if !recording.log.is_empty() {
        prepared.trial.write_text("log.txt", &recording.log);
    }
}

/// What the agent changed in the workspace, for the record and for graders; the patch is written next to the record.
pub(crate) fn captured_workspace(
    prepared: &Prepared<'_>,
    before: &Snapshot,
    after: &io::Result<Snapshot>,
) -> (WorkspaceRecord, Result<WorkspaceDiff, EarlyEnd>) {
    let trial = prepared.trial;
    let mut record = trial.workspace_record();
    let changes = changes_between(before, after);
    if let Ok(changes) = &changes {
        let has_patch = !changes.diff.is_empty() && trial.write_text("diff.patch", &changes.diff);
        record.patch = has_patch.then(|| "diff.patch".to_owned());
        record.created.clone_from(&changes.files.created);
        record.modified.clone_from(&changes.files.modified);
        record.deleted.clone_from(&changes.files.deleted);
        record.snippets.clone_from(&changes.snippets);
    }
    for (when, snapshot) in [("before", Some(before)), ("after", after.as_ref().ok())] {
        if let Some(left_out) = snapshot.map(Snapshot::left_out).filter(|left_out| !left_out.is_empty()) {
            trial.log.note("workspace_left_out", format!("of the workspace {when} the agent's work, {left_out}"));
        }
    }
    (record, changes)
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
    outcome: &Outcome,
    recording: &Recording,
    took: Duration,
    (started_at, ended_at): (String, String),
    changes: WorkspaceDiff,
) -> evidence::Facts {
    let Prepared { trial, case, .. } = prepared;
    let plan = trial.plan;
    let (answer, transcript) = reported_transcript::assemble(outcome, recording);
    let is_rust = matches!(plan.tested.agent, ChosenAgent::Rust(_));
    evidence::Facts {
        tags: plan.source.tags(),
        trial: trial.index,
        answer,
        unknown: reported_transcript::unknown_work(outcome, recording, is_rust),
        usage: reported_transcript::usage(outcome, recording, transcript.as_deref()),
        cost_usd: reported_transcript::cost(outcome, recording, transcript.as_deref()),
        transcript,
        duration_ms: outcome.duration_ms.unwrap_or_else(|| as_number(whole_millis(took))),
        started_at,
        ended_at,
        state: outcome.state.clone(),
        files: prepared.answer_files(),
        model: outcome.model.clone(),
        agent_metadata: outcome.metadata.clone(),
        changes: changes.files,
        diff: changes.diff,
        dependencies: Arc::clone(&plan.dependencies.results),
        ..evidence::Facts::of_case(case, &plan.tested.target)
    }
}

#[allow(clippy::cast_precision_loss, reason = "durations are far below 2^53 ms")]
fn as_number(millis: u64) -> f64 {
    millis as f64
}
