//! A trial that is graded: its work, the results of its graders, and its score.

use std::cell::RefCell;

use evalsuite_records::record::{GraderRecord, Note, Reason, Status, TurnRecord, Usage, UserRecord};
use evalsuite_schema::Grader;

use crate::grade;
use crate::grade::grading_context::GradingContext;
use crate::grade::scoring::TrialScore;
use crate::model::evidence::Evidence;
use crate::run::calibration;
use crate::run::case_report::TrialResult;
use crate::run::selection::case_graders;
use crate::run::trial::captured::Captured;
use crate::run::trial::prepared::Prepared;
use crate::run::trial::trial_attempt::{EarlyEnd, TrialAttempt, guarded};

/// A trial that is decided: graded, or ended before its graders.
#[derive(Debug)]
pub(crate) struct Graded {
    pub(crate) score: TrialScore,
    pub(crate) graders: Vec<GraderRecord>,
    /// The agent's work, if it was called.
    pub(crate) captured: Option<Captured>,
    /// What was said in a conversation.
    pub(crate) turns: RecordedTurns,
}

/// What was said in a conversation, as the record of its trial has it.
#[derive(Debug, Default)]
pub(crate) struct RecordedTurns {
    pub(crate) turns: Option<Vec<TurnRecord>>,
    pub(crate) user: Option<UserRecord>,
    pub(crate) user_usage: Option<Usage>,
    pub(crate) user_cost_usd: Option<f64>,
}

impl Graded {
    /// A trial that ended before its agent was called.
    pub(crate) fn ended(trial: &TrialAttempt<'_>, end: EarlyEnd) -> Self {
        Self::of(trial, None, Err(end))
    }

    /// A trial whose work was graded, or ended it.
    pub(crate) fn of(
        trial: &TrialAttempt<'_>,
        captured: Option<Captured>,
        graded: Result<(Vec<GraderRecord>, TrialScore), EarlyEnd>,
    ) -> Self {
        let (graders, mut score) = graded.unwrap_or_else(|end| (Vec::new(), end.into_score(trial.plan.settings)));
        trial.add_notes(std::mem::take(&mut score.notes));
        Self { score, graders, captured, turns: RecordedTurns::default() }
    }

    /// Ends the trial, whatever was decided.
    pub(crate) fn end(&mut self, trial: &TrialAttempt<'_>, end: EarlyEnd) {
        self.score = end.into_score(trial.plan.settings);
    }

    /// Turns the trial into an error, whatever was decided; the reason until now is a note.
    pub(crate) fn fail(&mut self, trial: &TrialAttempt<'_>, reason: Reason) {
        trial.add_notes(self.score.reason.take().map(|before| Note::new("after_difference", before.message)));
        self.end(trial, reason.into());
    }

    /// Whether graders have decided.
    pub(crate) fn is_decided(&self) -> bool {
        matches!(self.score.outcome, Status::Passed | Status::Failed)
    }

    /// What runs after it gets.
    pub(crate) fn result(&self) -> TrialResult {
        let answer = self.captured.as_ref().and_then(Captured::answer);
        TrialResult { outcome: self.score.outcome, score: self.score.score, answer: answer.map(|(answer, _)| answer) }
    }
}

/// Runs the graders of a case with one turn, unless the work has to end the trial, and decides it.
pub(crate) fn grade(prepared: &Prepared<'_>, mut captured: Captured) -> Graded {
    let end = captured.end.take();
    let run = || {
        let graders = run_graders(prepared, &captured.evidence, &case_graders(&prepared.case), None);
        prepared.add_judge_replies();
        let score = prepared.trial.plan.score(&graders);
        Ok((graders, score))
    };
    let graded = end.map_or_else(|| guarded(run), Err);
    Graded::of(prepared.trial, Some(captured), graded)
}

/// Runs the graders of a whole trial, or those of one turn; `folder` keeps their files apart from those of other turns.
pub(crate) fn run_graders(
    prepared: &Prepared<'_>,
    evidence: &Evidence<'_>,
    graders: &[Grader],
    folder: Option<&str>,
) -> Vec<GraderRecord> {
    let Prepared { trial, case, environment, cassette, .. } = prepared;
    let plan = trial.plan;
    let notes = RefCell::new(Vec::new());
    // Of a conversation, all that was said is accepted, and not the answer of a turn.
    let accepted_answer = plan.accepted_answer.as_ref().filter(|_| folder.is_none());
    let context = GradingContext {
        evidence,
        suite: plan.suite.name,
        threshold: plan.standard.threshold,
        registry: plan.evals.registry(),
        places: &plan.places,
        environment,
        trial_dir: &trial.directory,
        cassette,
        redactor: &plan.redactor,
        notes: &notes,
        judges: &plan.judges(),
        accepted_answer,
        preprocessors: &case.preprocessors,
    };
    let grade_and_report = |grader| {
        let record = grade::grade(grader, folder, &context);
        plan.report_grader(trial.index, &record);
        record
    };
    let mut graded: Vec<GraderRecord> = graders.iter().map(grade_and_report).collect();
    // Of a conversation, only the judges of the whole are compared with the agent's model.
    let agent_model = evidence.facts().model.as_deref().filter(|_| folder.is_none());
    graded.iter().for_each(|grader| note_judge_model(prepared, grader, agent_model));
    trial.add_notes(notes.into_inner());
    if let Some(advice) = calibration::advise(&mut graded, plan.evals, plan.settings, plan.run) {
        // Each turn of a conversation gives the same.
        let is_known = trial.journal.borrow().notes.contains(&advice);
        trial.add_notes((!is_known).then_some(advice));
    }
    graded
}

/// Notes graders whose judge is the model of the agent.
fn note_judge_model(prepared: &Prepared<'_>, grader: &GraderRecord, agent_model: Option<&str>) {
    if let Some(model) = grader.judge.as_ref().and_then(|judge| judge.model.as_deref())
        && Some(model) == agent_model
    {
        let message = format!("grader `{}` was judged by the model of the agent, `{model}`", grader.name);
        prepared.trial.note("judge_is_model_of_agent", message);
    }
    grader.members.iter().for_each(|member| note_judge_model(prepared, member, agent_model));
}
