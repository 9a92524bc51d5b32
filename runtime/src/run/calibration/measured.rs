//! Measures the judges of a suite once in a run, and records the result.

use std::collections::BTreeSet;
use std::{fmt, io};

use evalsuite_records::record::{CalibrationRecord, Mode, Reason};

use crate::judge::calibration::CalibrationReport;
use crate::model::evals::Evals;
use crate::model::suite_location::program;
use crate::platform::digest::sha256;
use crate::platform::files::write_json;
use crate::platform::redaction::Redactor;
use crate::record::coordination::{Ledger, Spend, run_once};
use crate::record::run_directory::RunDirectory;
use crate::record::run_record::SuiteOfRun;
use crate::record::{embedded_files, run_record};
use crate::run::calibration::measurement::{self, JudgeMeasurement, test_name};
use crate::run::selection::rerun;
use crate::run::settings::Settings;

/// The report of a measurement; the error is why the measurement was skipped.
pub(crate) type Measured = Result<CalibrationReport, Reason>;

/// The command that runs the generated test, which measures the judges of a suite.
pub(crate) fn repeat(evals: &Evals) -> String {
    rerun::command(evals.suite().package, &test_name(evals))
}

/// Why the judges of a suite cannot be measured.
#[derive(Debug)]
pub(crate) enum CalibrationError {
    /// The suite, its files or the run directory cannot be used.
    Unusable(String),
    /// The result cannot be recorded.
    NotRecorded(String),
}

impl fmt::Display for CalibrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Unusable(problem) | Self::NotRecorded(problem)) = self;
        f.write_str(problem)
    }
}

/// Measures the judges in a run of its own, unless the settings name a run.
pub(crate) fn measured_alone(
    evals: &Evals,
    settings: &Settings,
    repeat: &str,
) -> Result<Option<Measured>, CalibrationError> {
    let run = settings.own_run(evals.suite()).map_err(|error| CalibrationError::Unusable(error.to_string()))?;
    measured(evals, settings, &run, repeat)
}

/// Measures the judges of a suite, or reads what was measured in this run before; `None` for a suite without calibration. `repeat` is the
/// command that measures again.
pub(crate) fn measured(
    evals: &Evals,
    settings: &Settings,
    run: &RunDirectory,
    repeat: &str,
) -> Result<Option<Measured>, CalibrationError> {
    let suite = evals.suite();
    let undecodable = |error: serde_json::Error| {
        CalibrationError::Unusable(format!("the calibration of suite `{}` cannot be decoded: {error}", suite.name))
    };
    let Some(text) = suite.calibration else { return Ok(None) };
    let Some(calibration) = suite.decode_calibration().map_err(undecodable)? else { return Ok(None) };
    let data = suite.decode().map_err(undecodable)?;
    let places = embedded_files::suite_location(suite, run, "")
        .map_err(|error| CalibrationError::Unusable(error.to_string()))?;
    let secrets: BTreeSet<String> =
        calibration.samples.iter().flat_map(|sample| measurement::secrets(sample, data.layout)).collect();
    let redactor = Redactor::of(secrets.iter().map(String::as_str)).and_values(settings.judge.secrets());
    let unwritable = |error: io::Error| {
        let directory = run.path().display();
        CalibrationError::NotRecorded(format!("the calibration cannot be recorded in {directory}: {error}"))
    };
    let of_run = SuiteOfRun { suite, data: &data, location: &places, run, redactor: &redactor, echo: settings.echo };
    let _git = run_record::register(&of_run).map_err(unwritable)?;
    // The suite may be included elsewhere with other judges, and a run can continue after a change.
    let judges = evals.judges();
    let judges: Vec<String> =
        judges.default.iter().map(|judge| judge.0.name.clone()).chain(judges.default_names.clone()).collect();
    let place = format!("{}\0{}", program(), suite.module_path);
    let key = format!("{place}\0{text}\0{judges:?}\0{:?}\0{:?}", settings.judge, settings.mode);
    let key = format!("{}-{}", suite.key(), &sha256(&*redactor.apply(&key))[..8]);
    let mut written = Ok(());
    let result = run_once(&run.locks(), &format!("calibration-{key}"), &redactor, || {
        let measurement = JudgeMeasurement { evals, settings, run, suite: &data, calibration: &calibration, repeat };
        let record = measurement.measure()?;
        // A record that cannot be read again is redacted when it is written.
        let record = Box::new(redactor.redacted(record.clone()).unwrap_or(record));
        written = write(&measurement, &record, &redactor, &place);
        Ok(record)
    });
    let result: Result<Box<CalibrationRecord>, Reason> = result.map_err(unwritable)?;
    written.map_err(unwritable)?;
    Ok(Some(result.map(|record| CalibrationReport::new(*record, repeat.to_owned()))))
}

/// Writes `calibration.json`, and the cost to the ledger.
fn write(of: &JudgeMeasurement<'_>, record: &CalibrationRecord, redactor: &Redactor, place: &str) -> io::Result<()> {
    let JudgeMeasurement { evals, settings, run, .. } = of;
    let suite = evals.suite().key();
    let directory = run.suite(&suite);
    let first = directory.join("calibration.json");
    let path = match first.exists() {
        false => first,
        true => directory.join(format!("calibration.test-{}.json", &sha256(place)[..8])),
    };
    write_json(&path, record, redactor)?;
    if record.cost_usd.is_none() || settings.mode == Mode::Replay {
        return Ok(());
    }
    Ledger::of(run.path(), &run.locks()).append(&Spend {
        suite,
        case_key: "calibration".to_owned(),
        trial: 0,
        attempt: 0,
        runner_attempt: settings.runner.attempt,
        cost_usd: None,
        judge_cost_usd: record.cost_usd,
    })
}
