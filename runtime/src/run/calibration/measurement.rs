//! Measures the judges of a suite once in a run: they are asked about every sample, and the result is recorded.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Instant;
use std::{fs, io};

use evalsuite_records::record::{
    CalibrationRecord, GraderRecord, GraderState, Mode, Reason, ReasonCode, SampleRecord, Stage,
};
use evalsuite_schema::{Calibration, Layout, Message, Role, Sample, Suite};

use crate::grade;
use crate::grade::grading_context::GradingContext;
use crate::judge::endpoint_settings::KEYS;
use crate::model::answer_files::AnswerFiles;
use crate::model::command::CommandEnvironment;
use crate::model::evals::Evals;
use crate::model::evidence::{Evidence, Facts};
use crate::model::interpolation;
use crate::model::suite_location::{SuiteLocation, program};
use crate::platform::clock::timestamp;
use crate::platform::digest::{file_key, sha256};
use crate::platform::environment;
use crate::platform::files::write_json;
use crate::platform::redaction::Redactor;
use crate::platform::threads::map_on_threads;
use crate::record::cassette::{AgentInput, CassetteFile, TrialCassette, cassette_path};
use crate::record::coordination::{Ledger, Spend, run_once};
use crate::record::run_directory::RunDirectory;
use crate::record::run_record::SuiteOfRun;
use crate::record::{embedded_files, run_record};
use crate::run::calibration::calibration_record;
use crate::run::calibration::calibration_report::CalibrationReport;
use crate::run::case_report::CaseError;
use crate::run::selection;
use crate::run::selection::{needs_judge, no_judge};
use crate::run::settings::Settings;
use crate::workspace::value_placeholders::Placeholders;

/// Name of the directory of the samples, which no case has.
const DIRECTORY: &str = "calibration";

/// The report of a measurement; the error is why the measurement was skipped.
pub(crate) type Measured = Result<CalibrationReport, Reason>;

/// The command that runs the generated test, which measures the judges of a suite.
pub(crate) fn repeat(evals: &Evals) -> String {
    selection::command(evals.suite().package, &test_name(evals))
}

/// Measures the judges in a run of its own, unless the settings name a run.
pub(crate) fn measured_alone(evals: &Evals, settings: &Settings, repeat: &str) -> Result<Option<Measured>, CaseError> {
    let run = settings.own_run(evals.suite()).map_err(CaseError::unusable)?;
    measured(evals, settings, &run, repeat)
}

/// Measures the judges of a suite, or reads what was measured in this run before; `None` for a suite without calibration. `repeat` is the
/// command that measures again.
pub(crate) fn measured(
    evals: &Evals,
    settings: &Settings,
    run: &RunDirectory,
    repeat: &str,
) -> Result<Option<Measured>, CaseError> {
    let suite = evals.suite();
    let undecodable = |error: serde_json::Error| {
        CaseError::Unusable(format!("the calibration of suite `{}` cannot be decoded: {error}", suite.name))
    };
    let Some(text) = suite.calibration else { return Ok(None) };
    let Some(calibration) = suite.decode_calibration().map_err(undecodable)? else { return Ok(None) };
    let data = suite.decode().map_err(undecodable)?;
    let places = embedded_files::suite_location(suite, run, "").map_err(CaseError::unusable)?;
    let secrets: BTreeSet<String> =
        calibration.samples.iter().flat_map(|sample| secrets(sample, data.layout)).collect();
    let redactor = Redactor::of(secrets.iter().map(String::as_str)).and_values(settings.judge.secrets());
    let unwritable = |error: io::Error| {
        let directory = run.path().display();
        CaseError::Records(format!("the calibration cannot be recorded in {directory}: {error}"))
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
        user_cost_usd: None,
    })
}

/// A suite whose judges are measured.
pub(crate) struct JudgeMeasurement<'a> {
    pub(crate) evals: &'a Evals,
    pub(crate) settings: &'a Settings,
    pub(crate) run: &'a RunDirectory,
    pub(crate) suite: &'a Suite,
    pub(crate) calibration: &'a Calibration,
    /// The command that measures again.
    pub(crate) repeat: &'a str,
}

impl JudgeMeasurement<'_> {
    /// Asks about all samples.
    pub(crate) fn measure(&self) -> Result<CalibrationRecord, Reason> {
        let (clock, started_at) = (Instant::now(), timestamp());
        let is_recorded = self.is_recorded();
        let needs_judge = |sample: &Sample| needs_judge(&sample.case, self.evals.registry());
        if !is_recorded && !self.has_default() && self.calibration.samples.iter().any(needs_judge) {
            return Err(no_judge(self.evals.suite()));
        }
        let workers = self.settings.workers.or(self.suite.workers);
        let samples =
            map_on_threads(&self.calibration.samples, workers, |sample| match self.ask(sample, is_recorded) {
                Ok(record) => judged(sample, record),
                Err(Reason { code, message, .. }) => blank(sample, Some(code), Some(message)),
            });
        let mut record = CalibrationRecord::new();
        record.run_id.clone_from(&self.run.run_id);
        record.suite = self.evals.suite().name.to_owned();
        record.test_name = test_name(self.evals);
        record.started_at = started_at;
        record.duration_ms = u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(calibration_record::complete(record, self.calibration, samples))
    }

    fn has_default(&self) -> bool {
        self.settings.has_judge(self.evals.judges())
    }

    /// Whether the cassettes replace judges that are absent.
    fn is_recorded(&self) -> bool {
        let is_recorded_on_disk = |sample: &Sample| self.recording(sample).is_ok_and(|path| path.is_file());
        match self.settings.judge_mode() {
            Mode::Replay => true,
            Mode::Live => !self.has_default() && self.calibration.samples.iter().any(is_recorded_on_disk),
            _ => false,
        }
    }

    fn recording(&self, sample: &Sample) -> Result<PathBuf, Reason> {
        let suite = self.evals.suite();
        let key = format!("{DIRECTORY}/{}", file_key(&sample.id));
        cassette_path(suite, &key, 0, self.settings.cassettes.as_deref(), &SuiteLocation::of(suite))
    }

    /// Runs the sample's grader on its answer, as if an agent had given it.
    fn ask(&self, sample: &Sample, is_recorded: bool) -> Result<GraderRecord, Reason> {
        let (evals, run) = (self.evals, self.run);
        let broken = |message: String| Reason::new(Stage::Grading, ReasonCode::GraderError, message);
        let case = interpolation::resolve(sample.case.clone(), self.suite.layout, environment::var)
            .map_err(|unset| Reason::new(Stage::Setup, ReasonCode::VariableUnset, unset.message))?;
        let places =
            embedded_files::suite_location(evals.suite(), run, &case.dir).map_err(|error| broken(error.to_string()))?;
        let directory = run.suite(&evals.suite().key()).join(DIRECTORY).join(file_key(&sample.id));
        let workspace = directory.join("workspace");
        fs::create_dir_all(&workspace).map_err(|error| broken(format!("{}: {error}", workspace.display())))?;
        let secrets = secrets(sample, self.suite.layout);
        let secret_values = self.settings.judge.secrets();
        let redactor = Redactor::of(secrets.iter().map(String::as_str)).and_values(secret_values);
        let placeholders =
            Placeholders::of_trial(secrets.iter().map(String::as_str), &redactor, &places, &directory, &workspace);
        let cassette = self.cassette(sample, is_recorded, &places, placeholders)?;
        let mut environment = CommandEnvironment::of_run(&places, &run.run_id, DIRECTORY, self.settings.echo);
        environment.seals = self.settings.seals(self.suite.sealed, &places, run.output());
        let environment = environment.of_trial(places.join(&case.dir), &case.id, 0, &directory, &workspace);
        let now = timestamp();
        let evidence = Evidence::new(Facts {
            answer: sample.output.clone(),
            transcript: Some(vec![Message::text(Role::Assistant, sample.output.clone())]),
            started_at: now.clone(),
            ended_at: now,
            files: AnswerFiles { workspace: workspace.clone(), ..AnswerFiles::default() },
            ..Facts::of_case(&case, DIRECTORY)
        });
        // No agent is under test: people have rated the answers.
        let judges = self.settings.judge_choice(evals.judges(), evals.commands(), &places, None, is_recorded);
        let notes = RefCell::default();
        let context = GradingContext {
            evidence: &evidence,
            suite: evals.suite().name,
            threshold: self.calibration.threshold,
            registry: evals.registry(),
            places: &places,
            environment: &environment,
            trial_dir: &directory,
            cassette: &cassette,
            redactor: &redactor,
            notes: &notes,
            judges: &judges,
            accepted_answer: None,
            preprocessors: &case.preprocessors,
        };
        let Some(grader) = case.graders.first() else {
            return Err(broken("the sample has no grader".to_owned()));
        };
        Ok(grade::grade(grader, None, &context))
    }

    fn cassette(
        &self,
        sample: &Sample,
        is_recorded: bool,
        places: &SuiteLocation,
        placeholders: Placeholders,
    ) -> Result<TrialCassette, Reason> {
        let mode = self.settings.judge_mode();
        let path = match mode {
            Mode::Record | Mode::Replay => Some(self.recording(sample)?),
            _ if is_recorded => self.recording(sample).ok(),
            _ => None,
        };
        let seen = AgentInput::new(&sample.case, DIRECTORY, None, places);
        let digest = seen.digest();
        let about = CassetteFile::new(self.evals.suite().name, &sample.id, DIRECTORY, seen, digest);
        let hint = format!("to record it: `EVALSUITE_MODE=record {}`", self.repeat);
        let cassette = TrialCassette::new(about, placeholders);
        crate::run::replay::earlier_recording::open_replies(&cassette, mode, path, hint)?;
        Ok(cassette)
    }
}

/// Path of the generated test.
pub(crate) fn test_name(evals: &Evals) -> String {
    evals.suite().path_of_test("judge_calibration")
}

/// Variables whose values are not written to records and cassettes.
pub(crate) fn secrets(sample: &Sample, layout: Layout) -> BTreeSet<String> {
    let mut secrets = interpolation::variables(&sample.case, layout);
    secrets.extend(KEYS.map(str::to_owned));
    secrets
}

fn judged(sample: &Sample, record: GraderRecord) -> SampleRecord {
    let (code, error) = match record.state {
        GraderState::Decided => (None, None),
        GraderState::Undecided => (None, Some(record.rationale.clone().unwrap_or_default())),
        GraderState::Error => {
            (Some(record.code.unwrap_or(ReasonCode::GraderError)), Some(record.error.clone().unwrap_or_default()))
        }
    };
    let mut judged = blank(sample, code, error);
    judged.judge_score = record.value;
    judged.difference = record.value.map(|value| value - sample.human_score);
    judged.grader = Some(record);
    judged
}

fn blank(sample: &Sample, code: Option<ReasonCode>, error: Option<String>) -> SampleRecord {
    let mut record = SampleRecord::default();
    record.id.clone_from(&sample.id);
    record.location.clone_from(&sample.location);
    record.human_score = sample.human_score;
    record.human_rationale.clone_from(&sample.rationale);
    (record.error, record.code) = (error, code);
    record
}
