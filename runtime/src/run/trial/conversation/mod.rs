//! A conversation: the agent is called once per turn, and each reply is graded before the next turn.

pub(crate) mod history;
pub(crate) mod whole;

use std::time::{Duration, Instant};

use evalsuite_schema::{
    Conversation, Input, OnTurnFailure, Turn,
    record::{CaseOutcome, ReasonCode, TrialRecord, TurnRecord},
};

use crate::{
    grade::scoring::{TrialScore, score_conversation, score_trial},
    model::{
        evidence::{Evidence, Facts},
        messages::content_text,
        recording::Recording,
    },
    run::{
        limits,
        trial::{
            Stop, Trial,
            agent::{Ask, Call},
            capture,
            conversation::{history::History, whole::Whole},
            grading, millis, recorded,
            trajectory::Done,
        },
        trial_record::{first_of_answer, keep_log, report},
        turn_graders::turn_graders,
    },
    workspace::{snapshot::Snapshot, workspace_diff::WorkspaceDiff},
};

/// Holds the conversation and decides the trial.
///
/// # Errors
///
/// What ends it before its last turn; what was said until then is in the record.
pub(crate) fn hold(
    trial: &Trial<'_>,
    conversation: &Conversation,
    before: &Snapshot,
    record: &mut TrialRecord,
    done: &mut Option<Done>,
) -> Result<(), Stop> {
    let mut talk =
        Talk { trial, before, history: History::of(&trial.case), whole: Whole::default(), verdicts: Vec::new() };
    record.turns = Some(Vec::new());
    let ended = talk.turns(conversation, record);
    keep_log(trial.plan, &trial.directory, talk.whole.recording(), record);
    let clock = Instant::now();
    let changes = capture::changes(trial, before, record);
    record.timings.capture_ms += millis(clock);
    match ended.and(changes) {
        Ok(changes) => {
            talk.conclude(conversation, changes, record, done);
            Ok(())
        }
        Err(stop) => {
            record.usage = talk.whole.known_usage();
            record.cost_usd = talk.whole.known_cost();
            let reported = talk.whole.outcome(&talk.history);
            (record.model, record.state, record.agent_metadata) = (reported.model, reported.state, reported.metadata);
            record.duration_ms = talk.whole.known_duration();
            *done = Some(Done::Recorded(Box::new(talk.whole.into_recording())));
            Err(stop)
        }
    }
}

/// A conversation while it is held.
struct Talk<'t> {
    trial: &'t Trial<'t>,
    before: &'t Snapshot,
    history: History,
    whole: Whole,
    /// Of every turn; `None` where a turn has no grader: then there is nothing wrong with it.
    verdicts: Vec<Option<TrialScore>>,
}

impl Talk<'_> {
    /// Every turn in order.
    fn turns(&mut self, conversation: &Conversation, record: &mut TrialRecord) -> Result<(), Stop> {
        let mut over = false;
        for (index, turn) in (0_u32..).zip(&conversation.turns) {
            if over {
                self.verdicts.push(Some(TrialScore::not_run()));
                push(record, not_run(index, turn));
                continue;
            }
            let said = self.turn(index, turn, conversation.window_size, record)?;
            over = conversation.on_turn_failure == OnTurnFailure::Stop
                && matches!(said, CaseOutcome::Failed | CaseOutcome::Error);
        }
        Ok(())
    }

    /// One turn: what is said, what the agent replies, and what that is worth.
    fn turn(
        &mut self,
        index: u32,
        turn: &Turn,
        window: Option<u32>,
        record: &mut TrialRecord,
    ) -> Result<CaseOutcome, Stop> {
        let trial = self.trial;
        let clock = Instant::now();
        let asked = Input::Messages(self.history.asked(&turn.input, window));
        let call = recorded::call(trial, &Ask { input: &asked, turn: Some(index) });
        record.timings.agent_ms += millis(clock);
        let facts = call.and_then(|call| self.reply(turn, call, record));
        let facts = match facts {
            Ok(facts) => facts,
            Err(stop) => {
                let mut broken = not_run(index, turn);
                (broken.outcome, broken.score) = (stop.outcome, None);
                push(record, broken);
                return Err(in_turn(index, stop));
            }
        };
        recorded::keep_evidence(trial, record);
        let clock = Instant::now();
        self.history.add(&turn.input, &facts.answer);
        self.whole.add(&turn.input, &facts);
        let (answer, _) = first_of_answer(&facts.answer);
        let mut said = not_run(index, turn);
        said.answer = Some(answer);
        let graders = turn_graders(turn, &trial.case);
        if graders.is_empty() {
            (said.score, said.outcome) = (Some(1.0), CaseOutcome::Passed);
            self.verdicts.push(None);
        } else {
            let folder = format!("turn-{index:03}");
            said.graders = grading::run(trial, Evidence::new(facts), &graders, Some(&folder), record);
            let mut verdict = score_trial(trial.plan.suite_data.layout, &said.graders, trial.plan.threshold);
            (said.score, said.outcome) = shown(&verdict);
            if let Some(reason) = &mut verdict.reason {
                reason.message = format!("turn {}: {}", index + 1, reason.message);
            }
            self.verdicts.push(Some(verdict));
        }
        record.timings.grading_ms += millis(clock);
        let outcome = said.outcome;
        push(record, said);
        Ok(outcome)
    }

    /// What graders of the turn see.
    fn reply(&mut self, turn: &Turn, call: Call, record: &mut TrialRecord) -> Result<Facts, Stop> {
        let trial = self.trial;
        record.notes.extend(call.notes);
        self.whole.log(&call.recording);
        let outcome = match call.result {
            Ok(outcome) => outcome,
            Err(stop) => {
                self.whole.add_unfinished(call.recording, call.took);
                return Err(stop);
            }
        };
        let changes = match turn_graders(turn, &trial.case).is_empty() {
            true => WorkspaceDiff::default(),
            false => capture::changes_so_far(trial, self.before)?,
        };
        let mut facts = capture::facts(trial, &outcome, &call.recording, call.took, call.span, changes);
        facts.input = Some(Input::Messages(self.history.with(&turn.input)));
        facts.expected_output.clone_from(&turn.expected_output);
        facts.is_conversation = true;
        self.whole.report(outcome, call.recording.captured);
        Ok(facts)
    }

    /// Grades the whole and decides.
    fn conclude(
        mut self,
        conversation: &Conversation,
        changes: WorkspaceDiff,
        record: &mut TrialRecord,
        done: &mut Option<Done>,
    ) {
        let trial = self.trial;
        let clock = Instant::now();
        let outcome = self.whole.outcome(&self.history);
        let span = self.whole.span();
        let mut facts = capture::facts(trial, &outcome, &Recording::default(), Duration::ZERO, span, changes);
        facts.input = Some(Input::Messages(self.history.messages()));
        facts.is_conversation = true;
        let tools = self.whole.tools();
        (facts.transcript, facts.turns) = self.whole.transcript();
        report(&facts, outcome, record);
        limits::note_unknown_cost(trial.plan, record);
        let evidence = Evidence::new(facts);
        *done = Some(Done::Reported(evidence.clone(), tools));
        let mut whole = None;
        if !trial.case.graders.is_empty() {
            record.graders = grading::run(trial, evidence, &trial.case.graders, None, record);
            whole = Some(score_trial(trial.plan.suite_data.layout, &record.graders, trial.plan.threshold));
        }
        recorded::keep_replies(trial, record);
        let score = score_conversation(conversation.aggregation, &self.verdicts, whole, trial.plan.threshold);
        grading::decide(score, record);
        record.timings.grading_ms += millis(clock);
    }
}

fn push(record: &mut TrialRecord, turn: TurnRecord) {
    record.turns.get_or_insert_default().push(turn);
}

/// A turn to which nobody has replied.
fn not_run(index: u32, turn: &Turn) -> TurnRecord {
    let mut record = TurnRecord::default();
    record.index = index;
    record.input = turn.input.content.as_ref().map(content_text).unwrap_or_default();
    (record.score, record.outcome) = (Some(0.0), CaseOutcome::Skipped);
    record
}

/// A turn in which nothing was decided is left out.
fn shown(verdict: &TrialScore) -> (Option<f64>, CaseOutcome) {
    match &verdict.reason {
        Some(reason) if reason.code == ReasonCode::NothingDecided => (None, CaseOutcome::Skipped),
        _ => (verdict.score, verdict.outcome),
    }
}

fn in_turn(index: u32, mut stop: Stop) -> Stop {
    stop.reason.message = format!("turn {}: {}", index + 1, stop.reason.message);
    stop
}
