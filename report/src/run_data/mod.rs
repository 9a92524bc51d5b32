//! A run as its directory holds it.

mod answer;
mod case_lookup;
mod read_run;
mod record_file;
mod suite_names;
mod trial_files;

use std::path::PathBuf;

use evalsuite_records::record::{CalibrationRecord, CaseRecord, RunRecord, Status, SuiteId, SuiteRecord, TrialRecord};
use evalsuite_records::run_directory::CaseDirectoryName;

pub(crate) use self::answer::answer_of;
pub(crate) use self::case_lookup::CaseLookup;
pub(crate) use self::record_file::read_record;
pub(crate) use self::suite_names::SuiteNames;
pub(crate) use self::trial_files::TrialFiles;

/// The records of a run. A merged run is read like any other.
///
/// Records that are missing or torn do not stop the reading: they are listed in [`problems`](Self::problems).
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RunData {
    /// Id of the run.
    pub run_id: String,
    /// The run directory.
    pub directory: PathBuf,
    /// `run.json`; `None` if it is missing or torn.
    pub record: Option<RunRecord>,
    /// Whether a test of the run is still running.
    pub in_use: bool,
    /// Its suites, by name.
    pub suites: Vec<SuiteData>,
    /// What could not be read, in the order in which it was found.
    pub problems: Vec<Problem>,
}

impl RunData {
    /// Whether a text that a person wrote names a suite of the run: the one with exactly this name, else each that may be meant, see
    /// [`SuiteId::is_called`].
    pub fn is_called(&self, suite: &SuiteData, text: &str) -> bool {
        if self.suites.iter().any(|suite| suite.name == text) { suite.name == text } else { suite.id.is_called(text) }
    }
}

/// A suite of a run.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SuiteData {
    /// What the suite is called: its name, and as much more as it takes to tell it from the other suites of the run, see
    /// [`SuiteId::labels`]. The records of its cases have the same.
    pub name: String,
    /// Which suite it is.
    pub id: SuiteId,
    /// `suite.json`; `None` if it is missing or torn.
    pub record: Option<SuiteRecord>,
    /// `calibration.json`, if judges were calibrated in this run.
    pub calibration: Option<CalibrationRecord>,
    /// The cases with records, in the suite's order.
    pub cases: Vec<CaseData>,
}

impl SuiteData {
    /// Calls the suite by another name, in all its records.
    pub(crate) fn rename(&mut self, name: &str) {
        for case in &mut self.cases {
            name.clone_into(&mut case.record.suite);
            case.trials.iter_mut().for_each(|trial| name.clone_into(&mut trial.record.suite));
            case.earlier.iter_mut().for_each(|record| name.clone_into(&mut record.suite));
        }
        name.clone_into(&mut self.name);
    }

    /// Its cases by target, in the order in which the targets first occur.
    pub fn by_target(&self) -> Vec<(&str, Vec<&CaseData>)> {
        let mut targets: Vec<(&str, Vec<&CaseData>)> = Vec::new();
        for case in &self.cases {
            let target = case.record.target.as_str();
            match targets.iter_mut().find(|(name, _)| *name == target) {
                Some((_, cases)) => cases.push(case),
                None => targets.push((target, vec![case])),
            }
        }
        targets
    }
}

/// A case of a run, for one target and one test: its last runner attempt.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CaseData {
    /// Name of its directory.
    pub name: CaseDirectoryName,
    /// Its directory, relative to the run directory.
    pub directory: PathBuf,
    /// Its record; of a case that did not end, what is known from its trials.
    pub record: CaseRecord,
    /// Its trials, in order.
    pub trials: Vec<TrialData>,
    /// Earlier runner attempts, the first one first.
    pub earlier: Vec<CaseRecord>,
}

impl CaseData {
    /// Whether it passed although a trial failed or ended in an error.
    pub fn is_flaky(&self) -> bool {
        let counts = &self.record;
        counts.outcome == Status::Passed && (counts.passed < counts.completed || counts.errors > 0)
    }
}

/// A trial of a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TrialData {
    /// Its directory, relative to the run directory.
    pub directory: PathBuf,
    /// Its record; of a trial that did not end, what is known from its case.
    pub record: TrialRecord,
}

/// A file of a run that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Path of the file relative to the run directory, with `/` separators.
    pub file: String,
    /// What is wrong with it.
    pub message: String,
}
