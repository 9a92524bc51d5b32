//! Takes the place of `grader_tests` in a build without that feature. Suites with examples or a calibration do not compile then.

use crate::entry::run_error::RunError;
use crate::entry::test_entry::{fail, setup_error};
use crate::model::evals::Evals;
use crate::run::settings::{ProbeFindings, Settings};

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

/// `cargo evalsuite probe`, which asks for a reply, enables the feature.
pub(crate) fn reply_if_asked(_: &Evals) -> Result<bool, RunError> {
    match std::env::var_os("EVALSUITE_PROBE_REQUEST").is_some_and(|request| !request.is_empty()) {
        true => Err(without("EVALSUITE_PROBE_REQUEST")),
        false => Ok(false),
    }
}

pub(crate) fn findings_of_probe(_: &Evals) -> Vec<String> {
    let settings = Settings::from_environment().unwrap_or_else(|error| fail(setup_error(&error.into())));
    match settings.probe {
        ProbeFindings::Off => Vec::new(),
        _ => fail(setup_error(&without("EVALSUITE_PROBE"))),
    }
}

fn without(what: &str) -> RunError {
    let command = "cargo test --features evalsuite/grader-tests";
    RunError::setting(format!("{what} needs the feature `grader-tests` of evalsuite: `{command}`"))
}
