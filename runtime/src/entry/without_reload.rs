//! Takes the place of `reload` in a build without the feature: nothing can be read again.

use crate::entry::run_error::{RunError, RunErrorKind};
use crate::entry::suite_description::NewCase;
use crate::model::evals::Evals;
use crate::model::suite::EvalCase;
use crate::platform::errors::text_error;
use crate::record::run_directory::RunDirectory;
use crate::run::settings::Settings;

text_error! {
    /// A suite is to be loaded again.
    ReloadError
}

impl From<ReloadError> for RunError {
    fn from(error: ReloadError) -> Self {
        Self::new(RunErrorKind::InvalidSetting, error.to_string())
    }
}

pub(crate) fn for_case(
    evals: Evals,
    _: &'static EvalCase,
    settings: &Settings,
    _: &RunDirectory,
) -> Result<Evals, ReloadError> {
    whole_suite(evals, settings)
}

pub(crate) fn whole_suite(evals: Evals, settings: &Settings) -> Result<Evals, ReloadError> {
    if settings.reload { without_feature() } else { Ok(evals) }
}

pub(crate) fn whole_suite_of_run(
    evals: Evals,
    settings: &Settings,
    _: &RunDirectory,
    _: impl Fn(&Evals, &EvalCase) -> bool,
) -> Result<(Evals, Vec<String>), ReloadError> {
    Ok((whole_suite(evals, settings)?, Vec::new()))
}

pub(crate) fn with_new_cases(_: Evals, _: &[NewCase]) -> Result<Evals, ReloadError> {
    without_feature()
}

fn without_feature<T>() -> Result<T, ReloadError> {
    Err(ReloadError::from(
        "EVALSUITE_RELOAD is set, but `evalsuite` was built without its feature `reload`\n\
         help: add `features = [\"reload\"]` to the dependency in Cargo.toml",
    ))
}
