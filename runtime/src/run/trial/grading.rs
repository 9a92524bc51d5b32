use std::cell::RefCell;

use evalsuite_schema::{
    Grader,
    record::{GraderRecord, TrialRecord},
};

use crate::{
    grade::{
        self,
        grading_context::GradingContext,
        scoring::{TrialScore, score_trial},
    },
    model::evidence::Evidence,
    run::{
        calibration,
        trial::{Trial, judges},
    },
};

/// Runs the graders and decides the trial.
pub(crate) fn grade(trial: &Trial<'_>, evidence: Evidence<'_>, record: &mut TrialRecord) {
    let case = &trial.case;
    let implicit;
    let graders = if case.graders.is_empty() {
        implicit = [grade::llm_grader::implicit(case.location.clone())];
        implicit.as_slice()
    } else {
        &case.graders
    };
    record.graders = run(trial, evidence, graders, None, record);
    decide(score_trial(trial.plan.suite_data.layout, &record.graders, trial.plan.threshold), record);
}

/// Runs graders; their notes go to the record. `folder` keeps the files of a turn's graders apart from those of others.
pub(crate) fn run(
    trial: &Trial<'_>,
    evidence: Evidence<'_>,
    graders: &[Grader],
    folder: Option<&str>,
    record: &mut TrialRecord,
) -> Vec<GraderRecord> {
    let Trial { plan, case, directory, environment, cassette, .. } = trial;
    let notes = RefCell::new(Vec::new());
    let context = GradingContext {
        evidence: &evidence,
        suite: plan.suite.name,
        layout: plan.suite_data.layout,
        threshold: plan.threshold,
        registry: plan.evals.registry(),
        places: &plan.places,
        environment,
        trial_dir: directory,
        cassette,
        redactor: &plan.redactor,
        notes: &notes,
        judges: plan.judges(),
        preprocessors: &case.preprocessors,
    };
    let mut graded: Vec<GraderRecord> = graders.iter().map(|grader| grade::grade(grader, folder, &context)).collect();
    judges::add_up(&graded, record);
    record.notes.append(&mut notes.into_inner());
    let advice = calibration::advise(&mut graded, plan.evals, plan.settings, plan.run);
    // Said once, however many turns there are.
    record.notes.extend(advice.filter(|advice| !record.notes.contains(advice)));
    graded
}

/// What the graders came to is what the trial came to.
pub(crate) fn decide(score: TrialScore, record: &mut TrialRecord) {
    record.outcome = score.outcome;
    record.score = score.score;
    record.reason = score.reason;
    record.notes.extend(score.notes);
}
