//! Probes of cases that were loaded from files, not compiled into a test program: what built-in graders alone decide.

use std::path::Path;

use evalsuite_diagnostics::{Code, Diagnostic};
use evalsuite_schema::{Case, Suite};

use crate::entry::run_error::{RunError, RunErrorKind};
use crate::model::evals::Evals;
use crate::model::loaded_suite::loaded_suite;
use crate::run::made_up::bounded_grading::AllowedGraders;
use crate::run::made_up::made_up_suite::MadeUpSuite;
use crate::run::probe::suite_probe::SuiteProbe;
use crate::run::settings::Settings;

/// What is wrong with cases of a suite by their built-in graders. Commands, judges and graders in Rust are not run; what depends on them is
/// not decided. Findings about graders that other cases have, too, are left out.
///
/// Each call keeps the cases in memory until the process ends.
///
/// # Errors
///
/// If no temporary directory can be made, or a case cannot be probed.
pub fn probe_cases(suite: &Suite, cases: &[&Case], package_root: &Path) -> Result<Vec<Diagnostic>, RunError> {
    let cases = cases.iter().map(|case| (*case).clone()).collect();
    let suite = loaded_suite(suite.clone(), cases, None, package_root).map_err(|error| {
        RunError::new(RunErrorKind::Suite, "the cases cannot be written as JSON").with_source(error)
    })?;
    let allowed = AllowedGraders { judges: false, commands: false };
    let made_up = MadeUpSuite::new(Evals::new(suite), &Settings::default(), allowed)
        .map_err(|error| RunError::records("the temporary directory of the probe cannot be made").with_source(error))?;
    let probe = SuiteProbe { suite: &made_up, chosen: &|_| true, stored: None, output: None, on_case: &|| () };
    let record = probe.run()?;
    drop(made_up.end());
    let is_of_case = |finding: &Diagnostic| !matches!(finding.code, Code::VacuousGrader | Code::ImpossibleGrader);
    Ok(record.cases.into_iter().flat_map(|case| case.findings).filter(is_of_case).collect())
}
