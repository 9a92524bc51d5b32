//! Measures the judges of a suite outside of tests.

use crate::entry::evals_run::on_thread;
use crate::entry::run_error::{RunError, RunErrorKind};
use crate::entry::run_options::RunOptions;
use crate::model::evals::Evals;
use crate::run::calibration::CalibrationReport;
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

/// The report of a measurement. `suite` precedes the reason why nothing was measured; `no_samples` is that of a suite without calibration.
pub(crate) fn report(measured: Option<Measured>, suite: &str, no_samples: &str) -> Result<CalibrationReport, RunError> {
    let measured = measured.map(|measured| measured.map_err(|reason| reason.message));
    let measured = measured.unwrap_or_else(|| Err(no_samples.to_owned()));
    measured.map_err(|reason| RunError::new(RunErrorKind::NothingToMeasure, format!("{suite}{reason}")))
}
