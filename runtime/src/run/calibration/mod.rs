//! The calibration of judges in a run: measures them, and makes graders advisory whose judges are below the suite's
//! `minimum`: they are shown but do not count. If the judge did not answer during the calibration, they are errors.

pub(crate) mod calibration_record;
mod calibration_report;
pub(crate) mod measurement;

use evalsuite_records::record::{GraderKind, GraderRecord, GraderState, Note, ReasonCode};
use evalsuite_schema::grader::built_in_kind;

use crate::model::evals::Evals;
use crate::record::run_directory::RunDirectory;
use crate::run::settings::Settings;

pub use self::calibration_report::CalibrationReport;
pub(crate) use self::measurement::{Measured, measured, measured_alone, repeat};

/// Whether a judge took part in the result of a grader.
fn is_judged(grader: &GraderRecord) -> bool {
    grader.judge.is_some()
        || built_in_kind(&grader.grader_type) == Some(GraderKind::Model)
        || grader.members.iter().any(is_judged)
}

/// Why the judges of a suite decide nothing. With a code, they were asked and did not answer; without, they agree too little with people,
/// or there are none.
type Shortfall = (Option<ReasonCode>, String);

/// Makes graders that ask judges advisory if the judges are below the suite's `minimum`, and errors if the judges do not answer; returns a
/// note that says why graders are advisory.
pub(crate) fn advise(
    graders: &mut [GraderRecord],
    evals: &Evals,
    settings: &Settings,
    run: &RunDirectory,
) -> Option<Note> {
    if evals.suite().calibration.is_none() || !graders.iter().any(is_judged) {
        return None;
    }
    let judged = graders.iter_mut().filter(|grader| is_judged(grader));
    let (code, shortfall) = shortfall(evals, settings, run)?;
    if code.is_none() {
        judged.for_each(|grader| grader.advisory = Some(shortfall.clone()));
        return Some(Note::new("judge_below_bar", format!("graders that ask a judge decide nothing: {shortfall}")));
    }
    // The own error of a grader says more.
    judged.filter(|grader| grader.state != GraderState::Error).for_each(|grader| {
        (grader.state, grader.value, grader.verdict) = (GraderState::Error, None, None);
        (grader.code, grader.error) = (code, Some(shortfall.clone()));
    });
    None
}

/// Why the judges of a suite decide nothing; `None` if they may decide.
fn shortfall(evals: &Evals, settings: &Settings, run: &RunDirectory) -> Option<Shortfall> {
    let demands = evals.suite().decode_calibration().is_ok_and(|found| found.is_some_and(|found| found.bar.is_set()));
    if !demands {
        return None;
    }
    let unmeasured = |problem: &str| format!("the judge cannot be measured: {problem}");
    match measured(evals, settings, run, &repeat(evals)) {
        Ok(None) => None,
        Ok(Some(Ok(report))) if report.is_trusted() => None,
        Ok(Some(Ok(report))) => Some(match report.failed_call() {
            Some((code, error)) if !report.is_measured() => (Some(code), unmeasured(error)),
            _ => (None, report.shortfalls()),
        }),
        Ok(Some(Err(reason))) => Some((None, unmeasured(&reason.message))),
        Err(problem) => Some((None, unmeasured(&problem.to_string()))),
    }
}
