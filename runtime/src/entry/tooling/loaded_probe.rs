//! Probes of cases that were loaded from files: the language server and `cargo evalsuite watch` probe what was saved.

use std::path::Path;

use evalsuite_records::record::ProbeRecord;
use evalsuite_schema::{Case, Suite};

use crate::entry::probe::{made_up_suite, not_probed};
use crate::entry::run_error::{RunError, RunErrorKind};
use crate::model::evals::Evals;
use crate::model::suite::loaded_suite;
use crate::run::made_up::bounded_grading::AllowedGraders;
use crate::run::probe::suite_probe::SuiteProbe;
use crate::run::settings::Settings;

/// Probes the cases of a suite that was loaded from files, not compiled into a test program, with its built-in graders. Neither commands
/// nor judges are run, and nothing is stored.
///
/// Each call keeps the suite in memory until the process ends.
///
/// # Errors
///
/// If a variable is invalid, if the suite cannot be written as JSON, or if the temporary directory cannot be made.
pub fn probe_loaded_suite(suite: Suite, cases: Vec<Case>, package_root: &Path) -> Result<ProbeRecord, RunError> {
    let of_suite = |error| RunError::new(RunErrorKind::Suite, "the suite cannot be written as JSON").with_source(error);
    let suite = loaded_suite(suite, cases, None, package_root).map_err(of_suite)?;
    let settings = Settings::from_environment()?;
    let made_up = made_up_suite(Evals::new(suite), settings, AllowedGraders { judges: false, commands: false })?;
    let probe = SuiteProbe { suite: &made_up, chosen: &|_| true, stored: None, output: None, on_case: &|| () };
    let record = probe.run();
    let problems = made_up.end();
    let record = record.map_err(not_probed)?;
    match problems.first() {
        Some(problem) => Err(RunError::records(problem.clone())),
        None => Ok(record),
    }
}
