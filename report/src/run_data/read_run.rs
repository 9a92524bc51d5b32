//! Reads a run directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite::record::run_directory::{CASES, RUN_RECORD, SUITE_RECORD, SUITES, StoredRun};
use evalsuite_schema::record::{CaseRecord, SuiteId, SuiteRecord};

use super::read_case::{CaseAttempt, Depth, read_case};
use super::{CaseData, Problem, RunData, SuiteData, read_record};

/// Name of the file with the result of a calibration.
const CALIBRATION: &str = "calibration.json";

impl RunData {
    /// Reads a run with all its trials.
    ///
    /// # Errors
    ///
    /// If the directory is not a run directory, or cannot be listed.
    pub fn read(directory: impl Into<PathBuf>) -> io::Result<Self> {
        read_run(directory.into(), Depth::Trials)
    }

    /// Reads a run without the records of its trials: its [`CaseData::trials`] are empty.
    ///
    /// # Errors
    ///
    /// If the directory is not a run directory, or cannot be listed.
    pub fn read_cases(directory: impl Into<PathBuf>) -> io::Result<Self> {
        read_run(directory.into(), Depth::Cases)
    }
}

fn read_run(directory: PathBuf, depth: Depth) -> io::Result<RunData> {
    let Some(stored) = StoredRun::open(&directory) else {
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("{} is not a run directory", directory.display())));
    };
    let mut run = RunData { run_id: stored.id(), in_use: stored.is_in_use()?, directory, ..RunData::default() };
    let file = run.directory.join(RUN_RECORD);
    run.record = read_record(&run.directory, &file, &mut run.problems);
    if run.record.is_none() && run.problems.is_empty() {
        run.problems.push(Problem::new(&run.directory, &file, "is missing"));
    }
    for path in directories(&run.directory.join(SUITES))? {
        let suites = read_suite(&run.directory, &path, depth, &mut run.problems)?;
        run.suites.extend(suites);
    }
    // In records of older versions, only `run.json` has the package.
    let recorded = run.record.iter().flat_map(|record| &record.suites).filter(|suite| suite.directory.is_empty());
    let packages: BTreeMap<&str, &str> = recorded.map(|suite| (suite.name.as_str(), suite.package.as_str())).collect();
    for id in run.suites.iter_mut().map(|suite| &mut suite.id).filter(|id| id.package.is_empty()) {
        id.package = packages.get(id.name.as_str()).copied().unwrap_or_default().to_owned();
    }
    let labels = SuiteId::labels(&run.suites.iter().map(|suite| suite.id.clone()).collect::<Vec<_>>());
    for (suite, label) in run.suites.iter_mut().zip(labels) {
        suite.rename(&label);
    }
    run.suites.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(run)
}

/// The suite as each module includes it; nothing for a suite without any record.
fn read_suite(run: &Path, path: &Path, depth: Depth, problems: &mut Vec<Problem>) -> io::Result<Vec<SuiteData>> {
    let record: Option<SuiteRecord> = read_record(run, &path.join(SUITE_RECORD), problems);
    let calibration = read_record(run, &path.join(CALIBRATION), problems);
    let mut attempts: BTreeMap<String, Vec<CaseAttempt>> = BTreeMap::new();
    for directory in directories(&path.join(CASES))? {
        if let Some(case) = read_case(run, &directory, depth, problems)? {
            attempts.entry(case.name_without_attempt()).or_default().push(case);
        }
    }
    let mut cases: Vec<CaseData> = attempts.into_values().filter_map(last_attempt).collect();
    let tests = record.as_ref().map_or(&[][..], |record| &record.tests);
    // A test name that occurs twice has its first place.
    let order: BTreeMap<&str, usize> =
        tests.iter().enumerate().rev().map(|(index, test)| (test.test_name.as_str(), index)).collect();
    let place = |case: &CaseRecord| order.get(case.test_name.as_str()).copied().unwrap_or(usize::MAX);
    cases.sort_by_key(|case| place(&case.record));
    let recorded = cases.first().map(|case| case.record.suite.clone()).filter(|name| !name.is_empty());
    let name = record.as_ref().map(|record| record.name.clone()).filter(|name| !name.is_empty()).or(recorded);
    let name = match name {
        Some(name) => name,
        None if cases.is_empty() => return Ok(Vec::new()),
        None => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    };
    let mut by_module: BTreeMap<String, Vec<CaseData>> =
        record.iter().flat_map(|record| &record.tests).map(|test| (test.module.clone(), Vec::new())).collect();
    for case in cases {
        by_module.entry(case.record.module.clone()).or_default().push(case);
    }
    // A suite of which nothing ran.
    if by_module.is_empty() {
        by_module.insert(String::new(), Vec::new());
    }
    let suite = |(module, cases): (String, Vec<CaseData>)| {
        let mut record = record.clone();
        if let Some(record) = &mut record {
            record.tests.retain(|test| test.module == module);
        }
        let mut id = record.as_ref().map_or_else(SuiteId::default, |record| record.id(&module));
        id.name.clone_from(&name);
        SuiteData { name: name.clone(), id, record, calibration: calibration.clone(), cases }
    };
    Ok(by_module.into_iter().map(suite).collect())
}

/// The case of the last runner attempt, with the records of the earlier ones.
fn last_attempt(mut attempts: Vec<CaseAttempt>) -> Option<CaseData> {
    attempts.sort_by_key(|attempt| attempt.name.attempt);
    let last = attempts.pop()?;
    let earlier = attempts.into_iter().map(|attempt| attempt.record).collect();
    Some(CaseData { name: last.name, directory: last.directory, record: last.record, trials: last.trials, earlier })
}

/// The directories in a directory, sorted; none if it does not exist.
pub(super) fn directories(path: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}
