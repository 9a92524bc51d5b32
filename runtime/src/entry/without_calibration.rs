//! Takes the place of `calibration` in a build without the feature `calibration`, which `grader-tests` enables. Suites with a calibration do not compile then.

use crate::entry::run_error::{RunError, fail, setup_error};
use crate::model::evals::Evals;

/// The test of a suite with a calibration.
///
/// # Panics
///
/// Always.
pub fn judge_calibration(_: fn() -> Evals) {
    let command = "cargo test --features evalsuite/grader-tests";
    let needs = format!("a calibration needs the feature `grader-tests` of evalsuite: `{command}`");
    fail(setup_error(&RunError::setting(needs)))
}
