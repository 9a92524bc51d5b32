//! A trial that is graded: the results of its graders, and its score.

use std::cell::RefCell;

use evalsuite_records::record::GraderRecord;
use evalsuite_schema::Grader;

use crate::grade;
use crate::grade::grading_context::GradingContext;
use crate::model::evidence::Evidence;
use crate::run::calibration;
use crate::run::selection::case_graders::case_graders;
use crate::run::trial::prepared::Prepared;
use crate::run::trial::trial_attempt::{EarlyEnd, guarded};

/// Runs the graders of a case with one turn and decides the trial.
pub(crate) fn grade(prepared: &Prepared<'_>, evidence: &Evidence<'_>) -> Result<(), EarlyEnd> {
    guarded(|| {
        let trial = prepared.trial;
        let graders = run_graders(prepared, evidence, &case_graders(&prepared.case), None);
        prepared.add_judge_replies();
        trial.decide(trial.plan.score(&graders));
        trial.record.borrow_mut().graders = graders;
        Ok(())
    })
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
    trial.add_notes(notes.into_inner());
    if let Some(advice) = calibration::advise(&mut graded, plan.evals, plan.settings, plan.run) {
        // Each turn of a conversation gives the same.
        let is_known = trial.record.borrow().notes.contains(&advice);
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
