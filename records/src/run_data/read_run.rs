//! Reads a run directory.

use std::io;
use std::path::PathBuf;

use super::{Problem, ReadDepth, SuiteData, read_record, suites_of};
use crate::record::RunRecord;
use crate::run_directory::{RUN_RECORD, StoredRun};

/// Name of the file with the result of a calibration.
const CALIBRATION: &str = "calibration.json";

/// The records of a run. A merged run is read like any other.
///
/// Records that are missing or torn do not stop the reading: they are listed in [`problems`](Self::problems).
#[derive(Debug, Clone, Default)]
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
    /// [`is_called`](crate::record::SuiteId::is_called).
    pub fn is_called(&self, suite: &SuiteData, text: &str) -> bool {
        if self.suites.iter().any(|suite| suite.name == text) { suite.name == text } else { suite.id.is_called(text) }
    }
}

impl RunData {
    /// Reads a run with all its trials.
    ///
    /// # Errors
    ///
    /// If the directory is not a run directory, or cannot be listed.
    pub fn read(directory: impl Into<PathBuf>) -> io::Result<Self> {
        read_run(directory.into(), ReadDepth::Trials)
    }

    /// Reads a run without the records of its trials: its [trials](super::CaseData::trials) are empty.
    ///
    /// # Errors
    ///
    /// If the directory is not a run directory, or cannot be listed.
    pub fn read_cases(directory: impl Into<PathBuf>) -> io::Result<Self> {
        read_run(directory.into(), ReadDepth::Cases)
    }
}

fn read_run(directory: PathBuf, depth: ReadDepth) -> io::Result<RunData> {
    let Some(stored) = StoredRun::open(&directory) else {
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("{} is not a run directory", directory.display())));
    };
    let mut run = RunData { run_id: stored.id(), in_use: stored.is_in_use()?, directory, ..RunData::default() };
    let file = run.directory.join(RUN_RECORD);
    run.record = read_record(&run.directory, &file, &mut run.problems);
    if run.record.is_none() && run.problems.is_empty() {
        run.problems.push(Problem::new(&run.directory, &file, "is missing"));
    }
    let (suites, problem) = suites_of(&run.directory, depth)?;
    run.problems.extend(problem);
    for mut suite in suites {
        suite.calibration = read_record(&run.directory, &suite.directory.join(CALIBRATION), &mut run.problems);
        run.problems.extend(suite.problems.iter().cloned());
        if depth == ReadDepth::Cases {
            // Of a case without a record, its trials are read anyway.
            suite.cases.iter_mut().for_each(|case| case.trials.clear());
        }
        run.suites.push(suite);
    }
    Ok(run)
}
