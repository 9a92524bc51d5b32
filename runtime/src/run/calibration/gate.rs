//! Graders whose judge is not good enough say what they think, and decide nothing.

use evalsuite_schema::record::{GraderRecord, Note};

use crate::{
    model::evals::Evals,
    record::run_directory::RunDirectory,
    run::{calibration::measured, settings::Settings},
};

/// Whether a judge had a part in what a grader says.
fn is_judged(grader: &GraderRecord) -> bool {
    grader.judge.is_some()
        || matches!(grader.grader_type.as_str(), "llm-grader" | "rubrics")
        || grader.members.iter().any(is_judged)
}

/// Takes the weight from graders that ask judges, if these are below what the suite demands, and notes why.
pub(crate) fn advise(
    graders: &mut [GraderRecord],
    evals: &Evals,
    settings: &Settings,
    run: &RunDirectory,
) -> Option<Note> {
    if evals.suite().calibration.is_none() || !graders.iter().any(is_judged) {
        return None;
    }
    let doubt = doubt(evals, settings, run)?;
    for grader in graders.iter_mut().filter(|grader| is_judged(grader)) {
        grader.advisory = Some(doubt.clone());
    }
    Some(Note::new("judge_below_bar", format!("graders that ask a judge decide nothing: {doubt}")))
}

/// Why the judges of a suite decide nothing, if that is so.
fn doubt(evals: &Evals, settings: &Settings, run: &RunDirectory) -> Option<String> {
    let demands = evals.suite().decode_calibration().is_ok_and(|found| found.is_some_and(|found| found.bar.is_set()));
    if !demands {
        return None;
    }
    match measured(evals, settings, run) {
        Ok(None) => None,
        Ok(Some(Ok(report))) => (!report.is_trusted()).then(|| report.shortfalls()),
        Ok(Some(Err(reason))) => Some(format!("the judge cannot be measured: {}", reason.message)),
        Err(problem) => Some(format!("the judge cannot be measured: {problem}")),
    }
}
