//! [`Evals::calibrate`]: measures the judges of a suite outside of tests.

use std::thread;

use tokio::sync::oneshot;

use crate::{
    entry::{evals_run::RunError, run_options::RunOptions},
    judge::calibration::CalibrationReport,
    model::evals::Evals,
    run::{
        calibration::{begin, repeat},
        settings::Settings,
    },
};

impl Evals {
    /// Asks the suite's judges about the answers in its `calibration.yaml`, and tells how far they agree with the people who
    /// have scored them. What is recorded, replayed and configured by the environment is as in [`run`](Self::run); of the
    /// options those count that say where and how: output, run id, mode, cassettes.
    ///
    /// The future needs no particular runtime.
    ///
    /// # Errors
    ///
    /// If the suite has no calibration, if there is neither a judge nor a recording of one, or if an option or variable has a
    /// value that makes no sense. A judge that breaks or is not good enough is no error: see the report.
    pub async fn calibrate(&self, options: &RunOptions) -> Result<CalibrationReport, RunError> {
        let environment = Settings::from_environment().map_err(RunError::new)?;
        let settings = options.apply(environment).map_err(RunError::new)?;
        let evals = self.clone();
        let name = self.suite().name();
        let (sender, receiver) = oneshot::channel();
        let work = move || {
            // Nobody may be waiting any more.
            let _ = sender.send(begin(&evals, &settings, &repeat(&evals)));
        };
        thread::Builder::new()
            .name("evalsuite".to_owned())
            .spawn(work)
            .map_err(|error| RunError::new(format!("cannot start a thread: {error}")))?;
        let result = receiver.await.map_err(|_| RunError::new("measuring the judges panicked"))?;
        match result.map_err(RunError::new)? {
            None => Err(RunError::new(format!("suite `{name}` has no calibration.yaml"))),
            Some(Err(reason)) => Err(RunError::new(format!("suite `{name}` {}", reason.message))),
            Some(Ok(report)) => Ok(report),
        }
    }
}
