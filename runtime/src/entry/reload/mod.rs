//! `EVALSUITE_RELOAD`: suites and cases that changed since the build.

mod merged_suite;
mod reloaded;

pub(crate) use self::reloaded::with_new_cases;
use crate::entry::evals_run::{RunError, RunErrorKind};
use crate::model::evals::Evals;
use crate::model::suite::{EvalCase, EvalSuite};
use crate::platform::errors::text_error;
use crate::record::run_directory::RunDirectory;
use crate::run::settings::Settings;

text_error! {
    /// Why a suite cannot be loaded again.
    ReloadError
}

impl From<ReloadError> for RunError {
    fn from(error: ReloadError) -> Self {
        Self::new(RunErrorKind::Suite, error.to_string())
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

/// The suite with all its cases as their files are now, if `EVALSUITE_RELOAD` asks for that. Cases that are gone are left out.
pub(crate) fn whole_suite(evals: Evals, settings: &Settings) -> Result<Evals, ReloadError> {
    if settings.reload { Ok(reloaded::whole_suite(evals, None)?.0) } else { Ok(evals) }
}

/// The same for a run, which lists the cases that are new or gone, and the errors of those of the `wanted` cases that are gone.
pub(crate) fn whole_suite_of_run(
    evals: Evals,
    settings: &Settings,
    run: &RunDirectory,
    wanted: impl Fn(&Evals, &EvalCase) -> bool,
) -> Result<(Evals, Vec<String>), ReloadError> {
    if !settings.reload {
        return Ok((evals, Vec::new()));
    }
    let built = evals.clone();
    let (evals, gone) = reloaded::whole_suite(evals, Some(run))?;
    let wanted = gone.into_iter().filter(|case| wanted(&built, case));
    Ok((evals, wanted.map(|case| is_gone(built.suite(), case)).collect()))
}

/// The error of a test whose case is gone.
fn is_gone(built: &EvalSuite, case: &EvalCase) -> String {
    format!("`{}` has no case for the test `{}` any more\nhelp: build again", built.root, built.test_path(case))
}
