//! Reads a run directory.

use std::io;
use std::path::{Path, PathBuf};

use evalsuite_records::run_directory::{RUN_RECORD, StoredRun};
use evalsuite_records::stored_cases::{ReadDepth, StoredCase, StoredSuite, stored_suites};

use super::{CaseData, Problem, RunData, SuiteData, TrialData, read_record};

/// Name of the file with the result of a calibration.
const CALIBRATION: &str = "calibration.json";

impl RunData {
    /// Reads a run with all its trials.
    ///
    /// # Errors
    ///
    /// If the directory is not a run directory, or cannot be listed.
    pub fn read(directory: impl Into<PathBuf>) -> io::Result<Self> {
        read_run(directory.into(), ReadDepth::Trials)
    }

    /// Reads a run without the records of its trials: its [`CaseData::trials`] are empty.
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
    let (suites, problem) = stored_suites(&run.directory, depth)?;
    run.problems.extend(problem.map(|problem| Problem::new(&run.directory, &problem.file, problem.message)));
    for suite in suites {
        let suite = read_suite(&run.directory, suite, depth, &mut run.problems);
        run.suites.push(suite);
    }
    Ok(run)
}

fn read_suite(run: &Path, suite: StoredSuite, depth: ReadDepth, problems: &mut Vec<Problem>) -> SuiteData {
    let calibration = read_record(run, &suite.directory.join(CALIBRATION), problems);
    problems.extend(suite.problems.into_iter().map(|problem| Problem::new(run, &problem.file, problem.message)));
    let cases = suite.cases.into_iter().map(|case| case_data(case, depth)).collect();
    SuiteData { name: suite.name, id: suite.id, record: suite.record, calibration, cases }
}

fn case_data(case: StoredCase, depth: ReadDepth) -> CaseData {
    let StoredCase { name, directory, record, trials, earlier } = case;
    // Of a case without a record, its trials are read anyway.
    let trials = if depth == ReadDepth::Trials { trials } else { Vec::new() };
    let trials = trials.into_iter().map(|trial| TrialData { directory: trial.directory, record: trial.record });
    CaseData { name, directory, record, trials: trials.collect(), earlier }
}
