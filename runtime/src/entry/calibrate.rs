//! Measures judges outside of tests: those of a suite, and, for `cargo evalsuite calibrate`, the judge in the environment.

use std::path::PathBuf;

use evalsuite_schema::{Calibration, Suite};

use crate::entry::evals_run::on_thread;
use crate::entry::run_error::{RunError, RunErrorKind};
use crate::entry::run_options::RunOptions;
use crate::judge::calibration::CalibrationReport;
use crate::model::evals::Evals;
use crate::model::loaded_suite::loaded_suite;
use crate::run::calibration::{Measured, measured_alone, repeat};
use crate::run::settings::Settings;

impl Evals {
    /// Lets the suite's judges rate the answers in its `calibration.yaml`, and measures their agreement with the
    /// ratings of people. Cassettes and environment variables have the same effect as in [`run`](Self::run). Of the
    /// options, output, run id, mode and cassettes are used.
    ///
    /// The returned future works on any runtime.
    ///
    /// # Errors
    ///
    /// If the suite has no calibration, if there is neither a judge nor a cassette of one, or if an option or variable is invalid.
    /// A judge that fails or does not agree well enough is not an error: see the report.
    pub async fn calibrate(&self, options: &RunOptions) -> Result<CalibrationReport, RunError> {
        let settings = options.apply(Settings::from_environment()?)?;
        let evals = self.clone();
        let measured =
            on_thread("measures the judges", move |_| measured_alone(&evals, &settings, &repeat(&evals))).await?;
        let suite = format!("suite `{}` ", self.suite().name());
        report(measured?, &suite, "has no calibration.yaml")
    }
}

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

/// The report of a measurement. `suite` precedes the reason why nothing was measured; `no_samples` is that of a suite without calibration.
fn report(measured: Option<Measured>, suite: &str, no_samples: &str) -> Result<CalibrationReport, RunError> {
    let measured = measured.map(|measured| measured.map_err(|reason| reason.message));
    let measured = measured.unwrap_or_else(|| Err(no_samples.to_owned()));
    measured.map_err(|reason| RunError::new(RunErrorKind::NothingToMeasure, format!("{suite}{reason}")))
}
