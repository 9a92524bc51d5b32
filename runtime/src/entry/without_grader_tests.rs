//! Takes the place of `grader_tests` in a build without that feature. Suites with examples do not compile then.

use crate::entry::run_error::{RunError, fail, setup_error};
use crate::model::evals::Evals;

/// The test of a suite with examples.
///
/// # Panics
///
/// Always.
pub fn grader_examples(_: fn() -> Evals) {
    let command = "cargo test --features evalsuite/grader-tests";
    let needs = format!("a test of examples needs the feature `grader-tests` of evalsuite: `{command}`");
    fail(setup_error(&RunError::setting(needs)))
}
