//! Measures the judge in the environment with rated answers from files: `cargo evalsuite calibrate`.

use std::path::PathBuf;

use evalsuite_schema::{Calibration, Suite};

use crate::entry::calibration::report;
use crate::entry::evals_run::RunOptions;
use crate::entry::run_error::{RunError, RunErrorKind};
use crate::model::evals::Evals;
use crate::model::suite::loaded_suite;
use crate::run::calibration::{CalibrationReport, measured_alone};
use crate::run::settings::Settings;

/// Rated answers that were loaded from files, not compiled into a test program. They measure the judge that the environment
/// configures.
#[derive(Debug, Clone, PartialEq)]
pub struct RatedSamples {
    /// The suite of the samples.
    pub suite: Suite,
    /// The samples.
    pub calibration: Calibration,
    /// Root of the package that the paths of suite and samples are relative to.
    pub package_root: PathBuf,
    /// The command that measures again, for the report.
    pub repeat: String,
}

impl RatedSamples {
    /// Measures how well the judge configured in the environment agrees with the ratings.
    ///
    /// Each call keeps its samples in memory until the process ends.
    ///
    /// # Errors
    ///
    /// If there is no judge, if an option or variable is invalid, or if the record cannot be written.
    pub fn measure(self, options: &RunOptions) -> Result<CalibrationReport, RunError> {
        let settings = options.apply(Settings::from_environment()?)?;
        let undecodable =
            |error| RunError::new(RunErrorKind::Suite, "the samples cannot be written as JSON").with_source(error);
        let suite =
            loaded_suite(self.suite, Vec::new(), Some(&self.calibration), &self.package_root).map_err(undecodable)?;
        let evals = Evals::new(suite);
        #[cfg(feature = "cli-agents")]
        let evals = evals.with_agent(crate::agents::command::CliAgents);
        report(measured_alone(&evals, &settings, &self.repeat)?, "", "there are no samples")
    }
}
