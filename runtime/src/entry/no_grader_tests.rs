//! Takes the place of `grader_tests` in a build without that feature. Suites with examples or a calibration do not compile then.

use crate::entry::run_error::RunError;
use crate::entry::test_entry::{fail, setup_error};
use crate::model::evals::Evals;

/// The test of a suite with a calibration.
///
/// # Panics
///
/// Always.
pub fn judge_calibration(_: fn() -> Evals) {
    fail(setup_error(&without("a calibration")))
}

/// The test of a suite with examples.
///
/// # Panics
///
/// Always.
pub fn grader_examples(_: fn() -> Evals) {
    fail(setup_error(&without("a test of examples")))
}

fn without(what: &str) -> RunError {
    let command = "cargo test --features evalsuite/grader-tests";
    RunError::setting(format!("{what} needs the feature `grader-tests` of evalsuite: `{command}`"))
}
