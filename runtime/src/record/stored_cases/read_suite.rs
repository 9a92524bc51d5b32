//! Reads the suites of a run, and chooses the records that count.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use evalsuite_schema::record::{CaseRecord, SuiteRecord};

use super::read_case::{FoundCase, read_case};
use super::{Affected, ReadDepth, RecordProblem, StoredCase, StoredSuite};
use crate::platform::untrusted::UntrustedDirectory;
use crate::record::run_directory::layout::{CASES, CaseDirectoryName, SUITE_RECORD, SUITES};
use crate::record::run_directory::read_run_record;

/// The suites of a run that have records, by name. What cannot be read is a problem of its suite; that there is something else in
/// place of the directory of the suites is a problem of the run.
///
/// # Errors
///
/// If the directory of the suites cannot be read.
pub fn stored_suites(run: &Path, depth: ReadDepth) -> io::Result<(Vec<StoredSuite>, Option<RecordProblem>)> {
    let names = match UntrustedDirectory::new(run).join(SUITES).subdirectories() {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Ok((Vec::new(), Some(RecordProblem::new(run, Path::new(SUITES), error.to_string()))));
        }
        names => names?,
    };
    let paths = names.into_iter().map(|name| Path::new(SUITES).join(name));
    let mut suites: Vec<StoredSuite> = paths.filter_map(|path| read_suite(run, &path, depth)).collect();
    suites.sort_by(|left, right| left.name.cmp(&right.name));
    Ok((suites, None))
}

/// `None` for a suite without any record. `path` is relative to the run.
fn read_suite(run: &Path, path: &Path, depth: ReadDepth) -> Option<StoredSuite> {
    let mut problems = Vec::new();
    let record: Option<SuiteRecord> = read(run, &path.join(SUITE_RECORD), &mut problems);
    let tests = record.as_ref().map_or(&[][..], |record| &record.tests);
    let cases = path.join(CASES);
    let names = UntrustedDirectory::new(run).join(&cases).subdirectories().unwrap_or_else(|error| {
        problems.push(RecordProblem::new(run, &cases, error.to_string()));
        Vec::new()
    });
    let mut running = Vec::new();
    let mut attempts: BTreeMap<String, Vec<StoredCase>> = BTreeMap::new();
    for name in names {
        match read_case(run, &cases.join(name), depth, record.as_ref(), &mut problems) {
            FoundCase::Stored(case) => {
                let first = CaseDirectoryName { attempt: 1, ..case.name.clone() }.to_string();
                attempts.entry(first).or_default().push(*case);
            }
            FoundCase::Running(started) => running.push(*started),
            FoundCase::NotStarted => {}
        }
    }
    let mut cases = one_per_test(attempts.into_values().filter_map(last_attempt));
    // Of an attempt that died before another one counted, nothing is missing.
    let is_counted = |problem: &RecordProblem| cases.iter().any(|case| problem.file.starts_with(&case.directory));
    problems.retain(|problem| !matches!(problem.about, Affected::Died(..)) || is_counted(problem));
    // A test name that occurs twice has its first place.
    let order: BTreeMap<&str, usize> =
        tests.iter().enumerate().rev().map(|(index, test)| (test.test_name.as_str(), index)).collect();
    let place = |case: &CaseRecord| order.get(case.test_name.as_str()).copied().unwrap_or(usize::MAX);
    cases.sort_by_key(|case| place(&case.record));
    let of_record = record.as_ref().map(|record| record.name.clone());
    let of_case = cases.first().map(|case| case.record.suite.clone());
    let of_running = running.first().map(|started| started.suite.clone());
    let is_empty = cases.is_empty() && running.is_empty() && problems.is_empty();
    let of_directory = || path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let known = [of_record, of_case, of_running].into_iter().flatten().find(|name| !name.is_empty());
    let name = known.or_else(|| (!is_empty).then(of_directory))?;
    Some(StoredSuite { name, directory: run.join(path), record, cases, running, problems })
}

/// The case of the last runner attempt, with the records of the earlier ones.
fn last_attempt(mut attempts: Vec<StoredCase>) -> Option<StoredCase> {
    attempts.sort_by_key(|attempt| attempt.name.attempt);
    let mut last = attempts.pop()?;
    last.earlier = attempts.into_iter().map(|attempt| attempt.record).collect();
    Some(last)
}

/// The case of each test, of several the one of the last runner attempt. A test has one directory per stress run, but a copy of a
/// directory may lie beside it.
fn one_per_test(cases: impl Iterator<Item = StoredCase>) -> Vec<StoredCase> {
    let mut tests: BTreeMap<_, StoredCase> = BTreeMap::new();
    for case in cases {
        let record = &case.record;
        let names = [&record.program, &record.test_name, &record.case_id, &record.target].map(String::clone);
        let test = (names, case.name.stress.clone());
        if tests.get(&test).is_none_or(|counted| counted.name.attempt < case.name.attempt) {
            tests.insert(test, case);
        }
    }
    tests.into_values().collect()
}

/// Reads a record. `None` if it does not exist, or if it is not such a record: then the problem is added.
pub(super) fn read<T: serde::de::DeserializeOwned>(
    run: &Path,
    file: &Path,
    problems: &mut Vec<RecordProblem>,
) -> Option<T> {
    read_run_record(run, file).unwrap_or_else(|error| {
        problems.push(RecordProblem::new(run, file, error.to_string()));
        None
    })
}
