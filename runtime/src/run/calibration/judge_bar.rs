//! Graders whose judge is below the suite's `minimum` are advisory: they are shown, and decide nothing.

use evalsuite_schema::grader::built_in_kind;
use evalsuite_schema::record::{GraderKind, GraderRecord, Note};

use crate::model::evals::Evals;
use crate::record::run_directory::RunDirectory;
use crate::run::calibration::measured::measured;
use crate::run::settings::Settings;

/// Whether a judge took part in the result of a grader.
fn is_judged(grader: &GraderRecord) -> bool {
    grader.judge.is_some()
        || built_in_kind(&grader.grader_type) == Some(GraderKind::Model)
        || grader.members.iter().any(is_judged)
}

/// Makes graders that ask judges advisory if the judges are below the suite's `minimum`; returns a note that says why.
pub(crate) fn advise(
    graders: &mut [GraderRecord],
    evals: &Evals,
    settings: &Settings,
    run: &RunDirectory,
) -> Option<Note> {
    if evals.suite().calibration.is_none() || !graders.iter().any(is_judged) {
        return None;
    }
    let shortfall = shortfall(evals, settings, run)?;
    for grader in graders.iter_mut().filter(|grader| is_judged(grader)) {
        grader.advisory = Some(shortfall.clone());
    }
    Some(Note::new("judge_below_bar", format!("graders that ask a judge decide nothing: {shortfall}")))
}

/// Why the judges of a suite decide nothing; `None` if they may decide.
fn shortfall(evals: &Evals, settings: &Settings, run: &RunDirectory) -> Option<String> {
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
