//! The test that measures the judges of a suite, in which no agent is called.

pub(crate) mod measured_judges;

use evalsuite_records::record::ReasonCode;

use crate::entry::run_error::RunError;
use crate::entry::test_entry::{evaluation_error, fail, setup_error};
use crate::entry::{notices, reload, suite_description};
use crate::model::evals::Evals;
use crate::platform::notice;
use crate::platform::redaction::without_secrets;
use crate::run::calibration::{measured, repeat};
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
            notices::show_skip(&format!("judge calibration of {name}"), &reason, suite, settings, &run);
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
