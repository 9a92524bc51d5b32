//! What a test says about a case in view of its baseline.

use std::fmt::{self, Write};

use evalsuite_records::record::{BaselineResult, CaseRecord, Expectation, Status};
use evalsuite_schema::decimal::shown_against;

/// Writes what the baseline says about a case, and how the trials ended that repeated it, into the text of its test.
pub(crate) fn write(out: &mut String, record: &CaseRecord) -> fmt::Result {
    if let Some(baseline) = &record.baseline {
        writeln!(out, "  baseline: {}", in_baseline(baseline))?;
    }
    if !record.confirming.is_empty() {
        writeln!(out, "  repeated, as it passed in the baseline: {}", repeated(record))?;
    }
    Ok(())
}

/// What a baseline says about a case that failed.
fn in_baseline(BaselineResult { expectation, passed, trials, .. }: &BaselineResult) -> String {
    match expectation {
        Expectation::ExpectedFailure => format!("expected failure, none of {trials} trials passed"),
        Expectation::Quarantined => {
            format!("quarantined as flaky, {passed} of {trials} trials passed; this failure may be chance")
        }
        Expectation::Unconfirmed => format!("{passed} of {trials} trials passed; this failure may be chance"),
        Expectation::Regression => format!("regression, {passed} of {trials} trials passed"),
        Expectation::Redefined => "not comparable, its input or graders have changed since".to_owned(),
        _ => format!("{passed} of {trials} trials passed"),
    }
}

/// How the trials ended that repeated the case.
fn repeated(record: &CaseRecord) -> String {
    let passed = record.confirming.iter().filter(|trial| trial.outcome == Status::Passed).count();
    match record.confirming.len() {
        1 if passed == 0 => "one further trial did not pass either".to_owned(),
        trials if passed == 0 => format!("none of {trials} further trials passed"),
        trials => format!("{passed} of {trials} further trials passed, so it may be flaky"),
    }
}

/// What is said of a test that did not fail and yet is more than a pass in view of its baseline.
pub(crate) fn notice(record: &CaseRecord) -> Option<String> {
    let name = &record.test_name;
    let baseline = record.baseline?;
    let (passed, trials) = (baseline.passed, baseline.trials);
    let shown = |value| shown_against(value, record.threshold);
    let score = record.score.map_or_else(|| "no score".to_owned(), |score| format!("score {}", shown(score)));
    let failed =
        format!("{score}, threshold {}; in the baseline, {passed} of {trials} trials passed", shown(record.threshold));
    match baseline.expectation {
        Expectation::ExpectedFailure => Some(format!("EXPECTED FAILURE {name}: {failed}")),
        Expectation::Quarantined => Some(format!("QUARANTINED {name}: {failed}")),
        Expectation::Unconfirmed => {
            let passed = record.confirming.iter().filter(|trial| trial.outcome == Status::Passed).count();
            let repeated = match record.confirming.len() {
                0 => "too few to tell this failure from chance: accept more runs, or run more trials".to_owned(),
                trials => format!("repeated, {passed} of {trials} passed"),
            };
            Some(format!("UNCONFIRMED {name}: {failed}; {repeated}"))
        }
        Expectation::NewPass => Some(format!(
            "NEW PASS {name}: {score}; in the baseline, none of {trials} trials passed; to keep it: `cargo evalsuite accept`"
        )),
        _ => None,
    }
}
