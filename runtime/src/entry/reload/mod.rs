//! `EVALSUITE_RELOAD`: suites and cases that changed since the build.

#[cfg(feature = "reload")]
mod checked_suite;
#[cfg(feature = "reload")]
mod merged_suite;
#[cfg(feature = "reload")]
mod new_tests;
#[cfg(feature = "reload")]
mod reloaded;

pub(crate) use self::reloaded::with_new_cases;
use crate::entry::run_error::{RunError, RunErrorKind};
use crate::model::evals::Evals;
use crate::model::suite::EvalCase;
use crate::platform::text_error::text_error;
use crate::record::run_directory::RunDirectory;
use crate::run::settings::Settings;

text_error! {
    /// Why a suite cannot be loaded again.
    ReloadError
}

impl From<ReloadError> for RunError {
    fn from(error: ReloadError) -> Self {
        let kind = if cfg!(feature = "reload") { RunErrorKind::Suite } else { RunErrorKind::InvalidSetting };
        Self::new(kind, error.to_string())
    }
}

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

#[cfg(not(feature = "reload"))]
mod reloaded {
    //! Without the feature nothing can be read again.

    use super::{EvalCase, Evals, ReloadError, RunDirectory};
    use crate::entry::new_cases::NewCase;

    pub(super) fn for_case(evals: Evals, _: &EvalCase, _: &RunDirectory) -> Result<Evals, ReloadError> {
        whole_suite(evals)
    }

    pub(super) fn whole_suite(_: Evals) -> Result<Evals, ReloadError> {
        Err(ReloadError::from(
            "EVALSUITE_RELOAD is set, but `evalsuite` was built without its feature `reload`\n\
             help: add `features = [\"reload\"]` to the dependency in Cargo.toml",
        ))
    }

    pub(crate) fn with_new_cases(evals: Evals, _: &[NewCase]) -> Result<Evals, ReloadError> {
        whole_suite(evals)
    }
}
