//! The results and the score of a graded trial, and how a trial ended: graded, or early and after which phase.

use std::cell::RefCell;

use evalsuite_records::record::{GraderRecord, TurnRecord};
use evalsuite_schema::Grader;

use crate::grade;
use crate::grade::grading_context::GradingContext;
use crate::grade::scoring::{TrialScore, score_trial};
use crate::model::evidence::Evidence;
use crate::run::calibration;
use crate::run::selection::requirements;
use crate::run::settings::Settings;
use crate::run::trial::captured::{Captured, Interrupted};
use crate::run::trial::early_end::{EarlyEnd, guarded};
use crate::run::trial::prepared::Prepared;

/// The results of a trial's graders, and what they decide.
pub(crate) struct Graded {
    pub(crate) graders: Vec<GraderRecord>,
    /// Turns of a conversation.
    pub(crate) turns: Option<Vec<TurnRecord>>,
    pub(crate) score: TrialScore,
}

impl Graded {
    /// Of a trial that broke while it was graded.
    pub(crate) fn broken(end: EarlyEnd, turns: Option<Vec<TurnRecord>>) -> Self {
        Self { graders: Vec::new(), turns, score: end.into() }
    }
}

/// Runs the graders of a case with one turn and decides the trial.
pub(crate) fn grade(prepared: &Prepared<'_>, captured: &Captured) -> Graded {
    let case = &prepared.case;
    let implicit;
    let graders = if case.graders.is_empty() {
        implicit = [grade::llm_grader::implicit(case.location.clone())];
        implicit.as_slice()
    } else {
        &case.graders
    };
    guarded(|| {
        let graders = run_graders(prepared, &captured.evidence, graders, None);
        let plan = prepared.trial.plan;
        let mut score = score_trial(plan.source.data.layout, &graders, plan.standard.threshold);
        prepared.trial.log.add_notes(std::mem::take(&mut score.notes));
        prepared.add_judge_replies();
        Ok(Graded { graders, turns: None, score })
    })
    .unwrap_or_else(|end| Graded::broken(end, None))
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
    let accepted_answer = || if folder.is_none() { plan.accepted_answer() } else { Ok(None) };
    let context = GradingContext {
        evidence,
        suite: plan.source.suite.name,
        layout: plan.source.data.layout,
        threshold: plan.standard.threshold,
        registry: plan.evals.registry(),
        places: &plan.source.places,
        environment,
        trial_dir: &trial.directory,
        cassette,
        redactor: &plan.redactor,
        notes: &notes,
        judges: &plan.judges(),
        accepted_answer: &accepted_answer,
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
    trial.log.add_notes(notes.into_inner());
    if let Some(advice) = calibration::advise(&mut graded, plan.evals, plan.settings, plan.run) {
        trial.log.add_note_once(advice);
    }
    graded
}

/// Notes graders whose judge is the model of the agent.
fn note_judge_model(prepared: &Prepared<'_>, grader: &GraderRecord, agent_model: Option<&str>) {
    if let Some(model) = grader.judge.as_ref().and_then(|judge| judge.model.as_deref())
        && Some(model) == agent_model
    {
        let message = format!("grader `{}` was judged by the model of the agent, `{model}`", grader.name);
        prepared.trial.log.note("judge_is_model_of_agent", message);
    }
    grader.members.iter().for_each(|member| note_judge_model(prepared, member, agent_model));
}

/// The end of a trial, with what its phases returned.
pub(crate) enum TrialEnd {
    /// It ended before it had a workspace.
    Unprepared(EarlyEnd),
    /// It ended before its agent was called.
    NotCalled(EarlyEnd),
    /// Its agent was called, but left nothing that could be graded.
    NotGraded(Box<Interrupted>),
    Graded(Box<Captured>, Graded),
}

impl TrialEnd {
    /// The end, and the score of the trial.
    pub(crate) fn scored(self, settings: &Settings) -> (Self, TrialScore) {
        let early = match &self {
            Self::Graded(_, graded) => {
                let score = graded.score.clone();
                return (self, score);
            }
            Self::Unprepared(end) | Self::NotCalled(end) => end,
            Self::NotGraded(interrupted) => &interrupted.end,
        };
        let mut score = TrialScore::from(early.clone());
        requirements::refuse_skip(settings, &mut score.outcome, &mut score.reason);
        (self, score)
    }

    /// The answer, as far as the record has it.
    pub(crate) fn answer(&self) -> Option<&str> {
        let report = match self {
            Self::Graded(captured, _) => &captured.report,
            Self::NotGraded(interrupted) => &interrupted.report,
            Self::Unprepared(_) | Self::NotCalled(_) => return None,
        };
        report.answer.as_ref().map(|(answer, _)| answer.as_str())
    }
}

impl From<EarlyEnd> for TrialScore {
    fn from(end: EarlyEnd) -> Self {
        Self { outcome: end.outcome, score: None, reason: Some(end.reason), notes: Vec::new() }
    }
}
