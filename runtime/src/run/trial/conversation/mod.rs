//! A conversation: the agent is called once per turn, and each reply is graded before the next turn.

pub(crate) mod conversation_history;
pub(crate) mod conversation_totals;

use std::time::Duration;

use evalsuite_records::record::{ReasonCode, Status, TurnRecord, WorkspaceRecord};
use evalsuite_schema::{Conversation, Input, OnTurnFailure, Turn};

use self::conversation_history::ConversationHistory;
use self::conversation_totals::ConversationTotals;
use crate::grade::scoring::{TrialScore, score_conversation, score_trial};
use crate::model::evidence::{Evidence, Facts};
use crate::model::messages::content_text;
use crate::model::recording::Recording;
use crate::run::selection::turn_graders::turn_graders;
use crate::run::trial::called::{Called, call_agent};
use crate::run::trial::captured::{
    AgentReport, Interrupted, captured_outcome, captured_workspace, changes_between, evidence_facts, first_of_answer,
    write_agent_log,
};
use crate::run::trial::early_end::{EarlyEnd, guarded};
use crate::run::trial::graded::{Graded, TrialEnd, run_graders};
use crate::run::trial::prepared::Prepared;
use crate::workspace::snapshot::Snapshot;
use crate::workspace::workspace_diff::WorkspaceDiff;

/// Runs all turns, grades them, and grades the whole.
pub(crate) fn run_conversation(prepared: &Prepared<'_>, conversation: &Conversation, before: &Snapshot) -> TrialEnd {
    let mut running = RunningConversation {
        prepared,
        before,
        history: ConversationHistory::of(&prepared.case),
        totals: ConversationTotals::default(),
        scores: Vec::new(),
        turns: Vec::new(),
    };
    let ended = running.run_turns(conversation);
    write_agent_log(prepared, &running.totals.recording);
    let log = &prepared.trial.log;
    let capture = || captured_workspace(prepared, before, &before.take_later(&prepared.trial.workspace));
    let (workspace, changes) = log.timed(|t| &mut t.capture_ms, capture);
    match ended.and(changes) {
        Ok(changes) => log.timed(|t| &mut t.grading_ms, || running.conclude(conversation, changes, workspace)),
        Err(end) => running.interrupt(end, workspace),
    }
}

/// A conversation while it runs.
struct RunningConversation<'t> {
    prepared: &'t Prepared<'t>,
    before: &'t Snapshot,
    history: ConversationHistory,
    totals: ConversationTotals,
    /// Of every turn; `None` for a turn without graders, which counts as passed.
    scores: Vec<Option<TrialScore>>,
    turns: Vec<TurnRecord>,
}

impl RunningConversation<'_> {
    fn run_turns(&mut self, conversation: &Conversation) -> Result<(), EarlyEnd> {
        let mut is_stopped = false;
        for (index, turn) in (0_u32..).zip(&conversation.turns) {
            if is_stopped {
                self.scores.push(Some(TrialScore::not_run()));
                self.turns.push(turn_not_run(index, turn));
                continue;
            }
            match guarded(|| self.run_turn(index, turn, conversation.window_size)) {
                Ok(record) => {
                    is_stopped = conversation.on_turn_failure == OnTurnFailure::Stop
                        && matches!(record.outcome, Status::Failed | Status::Error);
                    self.turns.push(record);
                }
                Err(mut end) => {
                    let mut record = turn_not_run(index, turn);
                    (record.outcome, record.score) = (end.outcome, None);
                    self.turns.push(record);
                    end.reason.message = format!("turn {}: {}", index + 1, end.reason.message);
                    return Err(end);
                }
            }
        }
        Ok(())
    }

    /// Calls the agent and grades its reply.
    fn run_turn(&mut self, index: u32, turn: &Turn, window: Option<u32>) -> Result<TurnRecord, EarlyEnd> {
        let prepared = self.prepared;
        let log = &prepared.trial.log;
        let input = Input::Messages(self.history.window(&turn.input, window));
        // Graders of the turn before may have changed the workspace.
        let taken = (index > 0).then(|| Snapshot::take(&prepared.trial.workspace));
        let before = taken.as_ref().map_or(Ok(self.before), Result::as_ref);
        let called = log.timed(|t| &mut t.agent_ms, || call_agent(prepared, &input, Some(index), before))?;
        let facts = self.capture_turn(turn, called)?;
        prepared.write_evidence();
        Ok(log.timed(|t| &mut t.grading_ms, || self.grade_turn(index, turn, facts)))
    }

    /// What graders of the turn see.
    fn capture_turn(&mut self, turn: &Turn, called: Called) -> Result<Facts, EarlyEnd> {
        let prepared = self.prepared;
        let Called { result, recording, notes, took, span, after } = called;
        prepared.trial.log.add_notes(notes);
        self.totals.recording.log.push_str(&recording.log);
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(end) => {
                self.totals.add_unfinished(recording, took);
                return Err(end);
            }
        };
        let changes = match turn_graders(turn, &prepared.case).is_empty() {
            true => WorkspaceDiff::default(),
            false => changes_between(self.before, &after)?,
        };
        let mut facts = evidence_facts(prepared, &outcome, &recording, took, span, changes);
        facts.input = Some(Input::Messages(self.history.with(&turn.input)));
        facts.expected_output.clone_from(&turn.expected_output);
        facts.is_conversation = true;
        self.totals.add_report(outcome, recording.captured);
        Ok(facts)
    }

    fn grade_turn(&mut self, index: u32, turn: &Turn, facts: Facts) -> TurnRecord {
        let prepared = self.prepared;
        self.history.add(&turn.input, &facts.answer);
        self.totals.add(&turn.input, &facts);
        let (answer, _) = first_of_answer(&facts.answer);
        let mut record = turn_not_run(index, turn);
        record.answer = Some(answer);
        let graders = turn_graders(turn, &prepared.case);
        if graders.is_empty() {
            (record.score, record.outcome) = (Some(1.0), Status::Passed);
            self.scores.push(None);
        } else {
            record.graders = run_graders(prepared, &Evidence::new(facts), &graders, Some(&turn_folder(index)));
            let plan = prepared.trial.plan;
            let mut score = score_trial(plan.source.data.layout, &record.graders, plan.standard.threshold);
            (record.score, record.outcome) = shown(&score);
            if let Some(reason) = &mut score.reason {
                reason.message = format!("turn {}: {}", index + 1, reason.message);
            }
            self.scores.push(Some(score));
        }
        record
    }

    /// Grades the whole and decides the trial.
    fn conclude(self, conversation: &Conversation, changes: WorkspaceDiff, workspace: WorkspaceRecord) -> TrialEnd {
        let Self { prepared, history, mut totals, scores, turns, .. } = self;
        let outcome = totals.outcome(&history);
        let span = totals.span.take().unwrap_or_default();
        let mut facts = evidence_facts(prepared, &outcome, &Recording::default(), Duration::ZERO, span, changes);
        facts.input = Some(Input::Messages(history.0));
        facts.is_conversation = true;
        facts.unknown = std::mem::take(&mut totals.unknown);
        let tools = std::mem::take(&mut totals.recording.captured.tools);
        (facts.transcript, facts.turns) = totals.transcript();
        let captured = captured_outcome(prepared, facts, outcome, tools, workspace);
        let graded = guarded(|| {
            let plan = prepared.trial.plan;
            let graders = run_graders(prepared, &captured.evidence, &prepared.case.graders, None);
            let whole = (!prepared.case.graders.is_empty())
                .then(|| score_trial(plan.source.data.layout, &graders, plan.standard.threshold));
            prepared.add_judge_replies();
            let mut score = score_conversation(conversation.aggregation, &scores, whole, plan.standard.threshold);
            prepared.trial.log.add_notes(std::mem::take(&mut score.notes));
            Ok((graders, score))
        });
        let graded = match graded {
            Ok((graders, score)) => Graded { graders, turns: Some(turns), score },
            Err(end) => Graded::broken(end, Some(turns)),
        };
        TrialEnd::Graded(Box::new(captured), graded)
    }

    /// Ends the conversation before its last turn is graded.
    fn interrupt(self, end: EarlyEnd, workspace: WorkspaceRecord) -> TrialEnd {
        let Self { mut totals, history, turns, .. } = self;
        let reported = totals.outcome(&history);
        let report = AgentReport {
            answer: None,
            duration_ms: Some(totals.known_duration_ms()),
            usage: totals.usage.known,
            cost_usd: totals.cost_usd.known,
            model: reported.model,
            state: reported.state,
            metadata: reported.metadata,
        };
        let (recording, turns) = (totals.recording, Some(turns));
        TrialEnd::NotGraded(Box::new(Interrupted { end, recording, report, workspace, turns }))
    }
}

/// What the paths of the graders and the files of a turn begin with.
pub(crate) fn turn_folder(index: u32) -> String {
    format!("turn-{index:03}")
}

/// The record of a turn to which the agent has not replied.
pub(crate) fn turn_not_run(index: u32, turn: &Turn) -> TurnRecord {
    let mut record = TurnRecord::default();
    record.index = index;
    record.input = turn.input.content.as_ref().map(content_text).unwrap_or_default();
    (record.score, record.outcome) = (Some(0.0), Status::Skipped);
    record
}

/// The score and outcome of a turn in its record: a turn in which no grader decided is skipped.
pub(crate) fn shown(score: &TrialScore) -> (Option<f64>, Status) {
    match &score.reason {
        Some(reason) if reason.code == ReasonCode::NothingDecided => (None, Status::Skipped),
        _ => (score.score, score.outcome),
    }
}
