//! The calibration of judges in a run: measures them, and makes graders advisory whose judges are below the suite's
//! `minimum`: they are shown but do not count. If the judge did not answer during the calibration, they are errors.

pub(crate) mod calibration_record;
mod calibration_report;
pub(crate) mod measurement;

use evalsuite_records::record::{GraderKind, GraderRecord, GraderState, Note, ReasonCode};
use evalsuite_schema::grader::built_in_kind;

use crate::grade::scoring::is_broken_guard;
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

/// Whether a member that asks no judge decides a composite, whatever judges say: it is a broken guard, or an error.
fn is_decided_without_judges(grader: &GraderRecord) -> bool {
    let is_of_judge = |member: &GraderRecord| is_judged(member) && !is_decided_without_judges(member);
    // A required member breaks any composite, whatever its aggregator makes of the others.
    let by_judge =
        grader.members.iter().any(|member| member.required && is_broken_guard(member) && is_of_judge(member));
    grader.members.iter().any(|member| {
        let counts = member.required || grader.guard && !by_judge;
        let is_broken = is_broken_guard(grader) && is_broken_guard(member) && counts;
        let is_error = [grader, member].map(|record| record.state) == [GraderState::Error; 2];
        (is_broken || is_error) && !is_of_judge(member)
    })
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
    let judged = graders.iter_mut().filter(|grader| is_judged(grader) && !is_decided_without_judges(grader));
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

#[cfg(test)]
mod tests {
    use evalsuite_records::record::Verdict;

    use super::*;

    fn failed(grader_type: &str, members: &[GraderRecord]) -> GraderRecord {
        let mut record = GraderRecord::default();
        (record.grader_type, record.members) = (grader_type.to_owned(), members.to_vec());
        (record.state, record.verdict) = (GraderState::Decided, Some(Verdict::Fail));
        record
    }

    fn guard(mut record: GraderRecord) -> GraderRecord {
        record.guard = true;
        record
    }

    fn error(mut record: GraderRecord) -> GraderRecord {
        (record.state, record.verdict) = (GraderState::Error, None);
        record
    }

    #[test]
    fn a_guard_that_asks_no_judge_counts_also_in_a_composite_with_judges() {
        let (judge, code) = (failed("llm-grader", &[]), failed("tool-trajectory", &[]));
        let inner = guard(failed("composite", &[judge.clone(), guard(code.clone())]));
        let [by_code, by_judge] = [[&judge, &guard(code.clone())], [&guard(judge.clone()), &code]]
            .map(|members| guard(failed("composite", &members.map(Clone::clone))));
        assert!(is_decided_without_judges(&by_code) && !is_decided_without_judges(&by_judge));
        assert!(is_decided_without_judges(&guard(failed("composite", &[inner]))));
        // A judge that is required has broken it, and may be the only one: `threshold` does not ask other guards.
        let mut required = judge.clone();
        required.required = true;
        assert!(!is_decided_without_judges(&guard(failed("composite", &[required, guard(code.clone())]))));
        // Another aggregator than the mean has decided.
        assert!(!is_decided_without_judges(&failed("composite", &[judge.clone(), guard(code.clone())])));
        assert!(is_decided_without_judges(&error(failed("composite", &[judge.clone(), error(code.clone())]))));
        assert!(!is_decided_without_judges(&error(failed("composite", &[error(judge), code]))));
    }
}
