//! [`Evals::calibrate`]: measures the judges of a suite outside of tests.

use std::thread;

use tokio::sync::oneshot;

use crate::entry::run_error::{RunError, RunErrorKind};
use crate::entry::run_options::RunOptions;
use crate::judge::calibration::CalibrationReport;
use crate::model::evals::Evals;
use crate::run::calibration::{begin, repeat};
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
        let name = self.suite().name();
        let (sender, receiver) = oneshot::channel();
        let work = move || {
            // The receiver may have been dropped.
            let _ = sender.send(begin(&evals, &settings, &repeat(&evals)));
        };
        thread::Builder::new()
            .name("evalsuite".to_owned())
            .spawn(work)
            .map_err(|error| RunError::new(RunErrorKind::Thread, "cannot start a thread").with_source(error))?;
        let panicked = |_| RunError::new(RunErrorKind::Thread, "the thread that measures the judges panicked");
        let nothing = |message| Err(RunError::new(RunErrorKind::NothingToMeasure, message));
        match receiver.await.map_err(panicked)?? {
            None => nothing(format!("suite `{name}` has no calibration.yaml")),
            Some(Err(reason)) => nothing(format!("suite `{name}` {}", reason.message)),
            Some(Ok(report)) => Ok(report),
        }
    }
}
