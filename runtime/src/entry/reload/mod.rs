//! `EVALSUITE_RELOAD`: suites and cases that changed since the build.

#[cfg(feature = "reload")]
mod checked_suite;
#[cfg(feature = "reload")]
mod merged_suite;
#[cfg(feature = "reload")]
mod new_tests;
mod reload_error;
#[cfg(feature = "reload")]
mod reloaded;

use self::reload_error::ReloadError;
use crate::entry::new_cases::NewCase;
use crate::model::evals::Evals;
use crate::model::suite::EvalCase;
use crate::record::run_directory::RunDirectory;
use crate::run::settings::Settings;

/// The suite with a case as its files are now, if `EVALSUITE_RELOAD` asks for that.
pub(crate) fn for_case(
    evals: Evals,
    case: &'static EvalCase,
    settings: &Settings,
    run: &RunDirectory,
) -> Result<Evals, ReloadError> {
    if settings.reload { reloaded::for_case(evals, case, run) } else { Ok(evals) }
}

/// The suite with all its cases as their files are now, if `EVALSUITE_RELOAD` asks for that.
pub(crate) fn whole_suite(evals: Evals, settings: &Settings) -> Result<Evals, ReloadError> {
    if settings.reload { reloaded::whole_suite(evals) } else { Ok(evals) }
}

/// The suite with these cases, which are new since the build.
pub(crate) fn with_new_cases(evals: Evals, new: &[NewCase]) -> Result<Evals, ReloadError> {
    reloaded::with_new_cases(evals, new)
}

#[cfg(not(feature = "reload"))]
mod reloaded {
    //! Without the feature nothing can be read again.

    use super::{EvalCase, Evals, NewCase, ReloadError, RunDirectory};

    pub(super) fn for_case(_: Evals, _: &EvalCase, _: &RunDirectory) -> Result<Evals, ReloadError> {
        Err(ReloadError::FeatureMissing)
    }

    pub(super) fn whole_suite(_: Evals) -> Result<Evals, ReloadError> {
        Err(ReloadError::FeatureMissing)
    }

    pub(super) fn with_new_cases(_: Evals, _: &[NewCase]) -> Result<Evals, ReloadError> {
        Err(ReloadError::FeatureMissing)
    }
}
