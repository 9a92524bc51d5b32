//! Takes the place of `probe` in a build without that feature: a request for probes is an error.

use crate::entry::run_error::{RunError, fail, setup_error};
use crate::model::evals::Evals;
use crate::run::settings::{ProbeFindings, Settings};

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
    RunError::setting(format!("{what} needs the feature `probe` of evalsuite: `cargo test --features evalsuite/probe`"))
}
