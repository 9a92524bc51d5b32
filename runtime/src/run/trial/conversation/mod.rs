//! A conversation: the agent is called once per turn, and each reply is graded before the next turn.

pub(crate) mod conversation_so_far;
#[cfg_attr(not(feature = "users"), path = "no_simulated_user.rs")]
pub(crate) mod simulated_user;
#[cfg(any(feature = "grader-tests", feature = "users"))]
pub(crate) mod user_role;

use std::time::Duration;

use evalsuite_records::record::{ReasonCode, Stage, Status, TurnRecord};
use evalsuite_schema::{Conversation, Input, OnTurnFailure, Turn};

use self::conversation_so_far::ConversationSoFar;
use self::simulated_user::check_user;
use crate::grade::scoring::{TrialScore, score_conversation};
use crate::model::evidence::{Evidence, Facts};
use crate::model::messages::content_text;
use crate::model::recording::Recording;
use crate::run::selection::case_graders::{case_graders, turn_folder, turn_graders};
use crate::run::trial::called::{Called, call_agent};
use crate::run::trial::called_command::agent_directory;
use crate::run::trial::captured::{
    capture_workspace, changes_between, complete, evidence_facts, first_of_answer, interrupted, write_agent_log,
};
use crate::run::trial::graded::{Graded, RecordedTurns, run_graders};
use crate::run::trial::prepared::Prepared;
use crate::run::trial::size_limits::HandedOver;
use crate::run::trial::trial_attempt::{EarlyEnd, guarded};
use crate::workspace::snapshot::Snapshot;
use crate::workspace::workspace_diff::WorkspaceDiff;

/// Runs all turns, grades them, and grades the whole.
pub(crate) fn run_conversation(prepared: &Prepared<'_>, conversation: &Conversation, before: &Snapshot) -> Graded {
    let trial = prepared.trial;
    let so_far = ConversationSoFar::of(&prepared.case);
    let mut running = RunningConversation {
        prepared,
        before,
        so_far,
        handed_over: HandedOver::default(),
        recorded: RecordedTurns::default(),
        scores: TurnScores::of(conversation),
    };
    let ended = running.run_turns(conversation);
    write_agent_log(trial, &running.so_far.recording);
    let capture = || capture_workspace(trial, before, &before.take_later(&trial.workspace));
    let changes = trial.timed(|t| &mut t.capture_ms, capture);
    match ended.and(changes) {
        Ok(changes) => trial.timed(|t| &mut t.grading_ms, || running.conclude(conversation, changes)),
        Err(end) => {
            let RunningConversation { so_far: ConversationSoFar { recording, .. }, recorded, .. } = running;
            let duration_ms = recording.outcome.duration_ms.unwrap_or_default();
            Graded { turns: recorded, ..Graded::of(trial, Some(interrupted(recording, duration_ms)), Err(end)) }
        }
    }
}

/// A conversation while it runs.
struct RunningConversation<'t> {
    prepared: &'t Prepared<'t>,
    before: &'t Snapshot,
    so_far: ConversationSoFar,
    handed_over: HandedOver,
    recorded: RecordedTurns,
    scores: TurnScores,
}

/// The scores of the turns.
pub(crate) struct TurnScores {
    on_failure: OnTurnFailure,
    /// Of every turn; `None` for a turn without graders, which counts as passed.
    pub(crate) of_turns: Vec<Option<TrialScore>>,
    /// Whether no further turn is run.
    pub(crate) is_stopped: bool,
}

impl TurnScores {
    pub(crate) fn of(conversation: &Conversation) -> Self {
        Self { on_failure: conversation.on_turn_failure, of_turns: Vec::new(), is_stopped: false }
    }

    /// Adds the score of a turn; that of one that is not run does not matter.
    pub(crate) fn add(&mut self, score: Option<TrialScore>) {
        if self.is_stopped {
            return self.of_turns.push(Some(TrialScore::not_run()));
        }
        let failed = score.as_ref().is_some_and(|score| matches!(shown(score).1, Status::Failed | Status::Error));
        self.is_stopped = failed && self.on_failure == OnTurnFailure::Stop;
        self.of_turns.push(score);
    }
}

impl RunningConversation<'_> {
    fn run_turns(&mut self, conversation: &Conversation) -> Result<(), EarlyEnd> {
        for (index, turn) in (0_u32..).zip(&conversation.turns) {
            self.run_recorded_turn(index, turn, conversation.window_size, false)?;
        }
        conversation.user.as_ref().map_or(Ok(()), |user| self.run_user_turns(conversation, user))
    }

    /// Runs a turn, and adds its record however it ends. `is_simulated`: a simulated user wrote it.
    fn run_recorded_turn(
        &mut self,
        index: u32,
        turn: &Turn,
        window: Option<u32>,
        is_simulated: bool,
    ) -> Result<(), EarlyEnd> {
        let mut record = turn_not_run(index, turn);
        record.simulated = is_simulated;
        let ended = guarded(|| self.run_turn(turn, window, &mut record)).map_err(|mut end| {
            (record.outcome, record.score) = (end.outcome, None);
            end.reason.message = format!("turn {}: {}", index + 1, end.reason.message);
            end
        });
        self.recorded.turns.get_or_insert_default().push(record);
        ended
    }

    /// Calls the agent and grades its reply, unless an earlier turn has ended the conversation.
    fn run_turn(&mut self, turn: &Turn, window: Option<u32>, record: &mut TurnRecord) -> Result<(), EarlyEnd> {
        if self.scores.is_stopped {
            self.scores.add(None);
            return Ok(());
        }
        let (prepared, index) = (self.prepared, record.index);
        let trial = prepared.trial;
        let input = Input::Messages(self.so_far.window(&turn.input, window));
        // Graders of the turn before may have changed the workspace.
        let taken = (index > 0).then(|| Snapshot::take(&trial.workspace));
        let before = taken.as_ref().map_or(Ok(self.before), Result::as_ref);
        let called = trial.timed(|t| &mut t.agent_ms, || call_agent(prepared, &input, Some(index), before))?;
        let facts = self.capture_turn(turn, index, called)?;
        prepared.write_evidence();
        trial.timed(|t| &mut t.grading_ms, || self.grade_turn(turn, facts, record));
        Ok(())
    }

    /// What graders of the turn see.
    fn capture_turn(&mut self, turn: &Turn, index: u32, mut called: Called) -> Result<Facts, EarlyEnd> {
        let prepared = self.prepared;
        let changes = match turn_graders(turn, &prepared.case).is_empty() {
            true => Ok(WorkspaceDiff::default()),
            false => changes_between(self.before, &called.after),
        };
        let changes = changes.unwrap_or_else(|end| {
            called.fail(end);
            WorkspaceDiff::default()
        });
        let Called { result, recording, notes, took, span, .. } = called;
        prepared.trial.add_notes(notes);
        self.so_far.recording.log.push_str(&recording.log);
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(end) => {
                self.so_far.add_unfinished(recording, took);
                return Err(end);
            }
        };
        self.so_far.add_report(&outcome, &recording.captured);
        let mut facts = evidence_facts(prepared, outcome, &recording, took, span, changes);
        let directory = agent_directory(prepared, Some(index));
        let all = &mut self.so_far.recording;
        if let Some(problem) = self.handed_over.add(&directory, &prepared.trial.plan.redactor, &facts, all) {
            self.so_far.add_spending(facts.usage, facts.cost_usd, facts.duration_ms);
            let message = format!("the agent handed over {problem}");
            return Err(EarlyEnd::error(Stage::Agent, ReasonCode::AgentError, message));
        }
        self.so_far.describe_turn(turn, &mut facts);
        Ok(facts)
    }

    fn grade_turn(&mut self, turn: &Turn, facts: Facts, record: &mut TurnRecord) {
        let prepared = self.prepared;
        self.so_far.add(&turn.input, &facts);
        record.answer = Some(first_of_answer(&facts.answer).0);
        let graders = turn_graders(turn, &prepared.case);
        if graders.is_empty() && record.simulated {
            // How many turns there are is up to the user: they do not count.
            record.score = None;
            return;
        }
        if graders.is_empty() {
            (record.score, record.outcome) = (Some(1.0), Status::Passed);
            return self.scores.add(None);
        }
        record.graders = run_graders(prepared, &Evidence::new(facts), &graders, Some(&turn_folder(record.index)));
        let mut score = prepared.trial.plan.score(&record.graders);
        (record.score, record.outcome) = shown(&score);
        if let Some(reason) = &mut score.reason {
            reason.message = format!("turn {}: {}", record.index + 1, reason.message);
        }
        self.scores.add(Some(score));
    }

    /// Grades the whole and decides the trial.
    fn conclude(self, conversation: &Conversation, changes: WorkspaceDiff) -> Graded {
        let Self { prepared, mut so_far, scores, mut recorded, .. } = self;
        let (trial, plan) = (prepared.trial, prepared.trial.plan);
        let (outcome, span) = (so_far.outcome(), so_far.span.take().unwrap_or_default());
        let mut facts = evidence_facts(prepared, outcome, &Recording::default(), Duration::ZERO, span, changes);
        so_far.describe_whole(&mut facts);
        let captured = complete(trial, facts);
        let graded = guarded(|| {
            let user = conversation.user.as_ref();
            let in_role = user.map_or(Ok(()), |user| check_user(prepared, user, &mut recorded));
            in_role.inspect_err(|_| prepared.add_judge_replies())?;
            let graders = run_graders(prepared, &captured.evidence, &case_graders(&prepared.case), None);
            let whole = (!graders.is_empty()).then(|| plan.score(&graders));
            prepared.add_judge_replies();
            let threshold = plan.standard.threshold;
            let score = score_conversation(conversation.aggregation, &scores.of_turns, whole, threshold);
            Ok((graders, score))
        });
        Graded { turns: recorded, ..Graded::of(trial, Some(captured), graded) }
    }
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
