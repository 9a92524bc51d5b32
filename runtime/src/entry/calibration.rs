//! Measures the judges of a suite, in a test or outside of tests. No agent is called.

use evalsuite_records::record::ReasonCode;

use crate::entry::evals_run::{RunOptions, on_thread};
use crate::entry::run_error::{RunError, RunErrorKind, evaluation_error, fail, setup_error};
use crate::entry::{reload, suite_description, test_entry};
use crate::model::evals::Evals;
use crate::platform::notice;
use crate::platform::redaction::without_secrets;
use crate::run::calibration::{CalibrationReport, Measured, measured, measured_alone, repeat};
use crate::run::settings::Settings;

/// Measures the suite's judges as a test.
///
/// # Panics
///
/// If they agree less with people than the suite requires, or cannot be measured.
pub fn judge_calibration(evals: fn() -> Evals) {
    if suite_description::is_wanted() {
        return;
    }
    let evals = evals();
    let name = evals.suite().name;
    let measure = || -> Result<_, RunError> {
        let settings = Settings::from_environment()?;
        let run = settings.run_of_tests(evals.suite())?;
        let evals = reload::whole_suite(evals.clone(), settings)?;
        let measured = measured(&evals, settings, &run, &repeat(&evals))?;
        Ok((measured, evals.suite(), settings, run))
    };
    let (measured, suite, settings, run) = measure().unwrap_or_else(|error| fail(setup_error(&error)));
    match measured {
        None => fail(evaluation_error("select/unsupported", format!("suite `{name}` has no calibration"))),
        Some(Err(reason)) if !settings.require => {
            test_entry::show_skip(&format!("judge calibration of {name}"), &reason, suite, settings, &run);
        }
        Some(Err(reason)) => fail(evaluation_error(
            &format!("{}/{}", reason.stage.as_str(), ReasonCode::Required.as_str()),
            format!(
                "judge calibration ({name}) {}, and EVALSUITE_REQUIRE=1 turns skipped cases into errors{}",
                reason.message,
                reason.help.map(|help| format!("\nhelp: {help}")).unwrap_or_default(),
            ),
        )),
        Some(Ok(report)) if !report.is_measured() => {
            let code = report.record().samples.iter().find_map(|sample| sample.code).unwrap_or(ReasonCode::JudgeError);
            fail(evaluation_error(&format!("grading/{}", code.as_str()), report))
        }
        Some(Ok(report)) if !report.is_trusted() => fail(format!("evaluation failed: {report}")),
        Some(Ok(report)) => {
            println!("{}", without_secrets(&report.to_string()));
            notice::say(&format!("CALIBRATED {name}: {}", report.line()));
        }
    }
}

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
