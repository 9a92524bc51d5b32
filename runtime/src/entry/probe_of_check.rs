//! What the tests `suite_check` do about probes, with and without the feature `probe`.

use evalsuite_diagnostics::Diagnostic;

#[cfg(feature = "probe")]
use crate::entry::probe;
use crate::entry::run_error::RunError;
use crate::model::evals::Evals;

/// Probes the suite where `cargo evalsuite probe` asks for it, and returns whether it did: then the test does nothing else.
#[cfg(feature = "probe")]
pub(crate) fn reply_if_asked(evals: &Evals) -> Result<bool, RunError> {
    let Some(request) = probe::request()? else { return Ok(false) };
    probe::reply(evals, &request)?;
    Ok(true)
}

/// Nobody asks: `cargo evalsuite probe` enables the feature.
#[cfg(not(feature = "probe"))]
#[expect(clippy::unnecessary_wraps, reason = "asked, it may fail")]
pub(crate) fn reply_if_asked(_: &Evals) -> Result<bool, RunError> {
    Ok(false)
}

/// The findings about a whole suite, and problems of hooks and files.
#[cfg(feature = "probe")]
pub(crate) fn findings(evals: &Evals) -> Result<(Vec<Diagnostic>, Vec<String>), RunError> {
    probe::findings(evals)
}

/// The error that there are no probes in this program.
#[cfg(not(feature = "probe"))]
pub(crate) fn findings(_: &Evals) -> Result<(Vec<Diagnostic>, Vec<String>), RunError> {
    let message = "EVALSUITE_PROBE needs the feature `probe` of evalsuite: `cargo test --features evalsuite/probe`";
    Err(RunError::setting(message))
}
