//! Reads the cases of a run from its directory, for summaries and reports. A case that started and has no record is an
//! error, unless its test is still running.

mod lost_case;
mod read_case;
mod read_suite;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use crate::record::{CaseRecord, Started, SuiteId, SuiteRecord, TrialRecord};
use crate::run_directory::CaseDirectoryName;

pub use self::read_suite::stored_suites;

/// A suite of a run.
#[derive(Debug, Clone)]
pub struct StoredSuite {
    /// Displayed name of the suite, see [`SuiteId::labels`]; also in the records of its cases.
    pub name: String,
    /// Identity of the suite.
    pub id: SuiteId,
    /// Its directory.
    pub directory: PathBuf,
    /// `suite.json`; `None` if it is missing or cannot be read.
    pub record: Option<SuiteRecord>,
    /// Its cases that ended or died, in the suite's order; of several runner attempts at a case, the last one.
    pub cases: Vec<StoredCase>,
    /// The cases that are still running.
    pub running: Vec<Started>,
    /// What could not be read, in the order in which it was found.
    pub problems: Vec<RecordProblem>,
}

/// A case of a run, for one target and one test.
#[derive(Debug, Clone)]
pub struct StoredCase {
    /// Name of its directory.
    pub name: CaseDirectoryName,
    /// Its directory, relative to the run directory.
    pub directory: PathBuf,
    /// Its record; for an unfinished case, the data of its trials.
    pub record: CaseRecord,
    /// Its trials, in order; empty with [`ReadDepth::Cases`].
    pub trials: Vec<StoredTrial>,
    /// Earlier runner attempts, the first one first.
    pub earlier: Vec<CaseRecord>,
}

/// A trial of a run.
#[derive(Debug, Clone)]
pub struct StoredTrial {
    /// Its directory, relative to the run directory.
    pub directory: PathBuf,
    /// Its record; for an unfinished trial, the data of its case.
    pub record: TrialRecord,
}

/// A file of a run that is missing or cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordProblem {
    /// The file, relative to the run directory.
    pub file: PathBuf,
    /// What is wrong with it, or why it is missing.
    pub message: String,
    about: Affected,
}

/// What a problem is about.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Affected {
    File,
    /// A case whose process died, by its id and target.
    Died(String, String),
    /// A case whose test is running.
    Running(String, String),
}

/// How much of the cases is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadDepth {
    /// Their records.
    Cases,
    /// Their records and those of their trials.
    Trials,
}

impl StoredSuite {
    /// Calls the suite by another name, in all its records.
    fn rename(&mut self, name: &str) {
        for case in &mut self.cases {
            name.clone_into(&mut case.record.suite);
            case.trials.iter_mut().for_each(|trial| name.clone_into(&mut trial.record.suite));
            case.earlier.iter_mut().for_each(|record| name.clone_into(&mut record.suite));
        }
        name.clone_into(&mut self.name);
    }
}

impl RecordProblem {
    fn new(run: &Path, file: &Path, message: impl Into<String>) -> Self {
        let file = file.strip_prefix(run).unwrap_or(file).to_owned();
        Self { file, message: message.into(), about: Affected::File }
    }

    /// The problem as a sentence of a summary.
    pub fn sentence(&self) -> String {
        let Self { file, message, about } = self;
        match about {
            Affected::Died(case, target) => {
                format!("evaluation error (agent/process_died): case `{case}` (target `{target}`)  {message}")
            }
            Affected::Running(case, target) => format!("case `{case}` (target `{target}`) {message}"),
            Affected::File => {
                let names: Vec<_> = file.iter().map(|name| name.to_string_lossy()).collect();
                let case = match names.as_slice() {
                    [_, _, cases, case, _, ..] if cases == "cases" => format!("case `{case}`  "),
                    _ => String::new(),
                };
                format!("evaluation error (records): {case}{}: {message}", names.join("/"))
            }
        }
    }
}
