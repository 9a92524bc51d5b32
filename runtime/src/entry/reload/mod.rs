//! `EVALSUITE_RELOAD`: suites and cases that changed since the build.

#[cfg(feature = "reload")]
mod checked_suite;
#[cfg(feature = "reload")]
mod merged_suite;
#[cfg(feature = "reload")]
mod new_tests;
#[cfg(feature = "reload")]
mod reloaded;

use crate::model::evals::Evals;
use crate::model::suite::EvalCase;
use crate::record::run_directory::RunDirectory;
use crate::run::settings::Settings;

/// The suite with a case as its files are now, if `EVALSUITE_RELOAD` asks for that.
///
/// # Errors
///
/// The problems of the files as the compiler shows them, or why they cannot be read again.
pub(crate) fn for_case(
    evals: Evals,
    case: &'static EvalCase,
    settings: &Settings,
    run: &RunDirectory,
) -> Result<Evals, String> {
    if settings.reload { reloaded::for_case(evals, case, run) } else { Ok(evals) }
}

/// The suite with all its cases as their files are now, if `EVALSUITE_RELOAD` asks for that.
///
/// # Errors
///
/// As [`for_case`].
pub(crate) fn whole_suite(evals: Evals, settings: &Settings) -> Result<Evals, String> {
    if settings.reload { reloaded::whole_suite(evals) } else { Ok(evals) }
}

#[cfg(not(feature = "reload"))]
mod reloaded {
    //! Without the feature nothing can be read again.

    use super::{EvalCase, Evals, RunDirectory};

    const FEATURE_MISSING: &str = "evaluation error (setup/invalid_setting): EVALSUITE_RELOAD is set, but `evalsuite` \
        was built without its feature `reload`\nhelp: add `features = [\"reload\"]` to the dependency in Cargo.toml";

    pub(super) fn for_case(_: Evals, _: &EvalCase, _: &RunDirectory) -> Result<Evals, String> {
        Err(FEATURE_MISSING.to_owned())
    }

    pub(super) fn whole_suite(_: Evals) -> Result<Evals, String> {
        Err(FEATURE_MISSING.to_owned())
    }
}
