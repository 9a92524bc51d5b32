//! Reads the suites of a run, and chooses the records that count.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::read_case::CaseReader;
use super::{Affected, CaseData, Problem, ReadDepth, SuiteData};
use crate::record::{CaseRecord, ChosenTests, RunRecord, SuiteId, SuiteRecord};
use crate::run_directory::{CASES, CHOSEN, CaseDirectoryName, RUN_RECORD, SUITE_RECORD, SUITES, read_run_record};
use crate::untrusted::UntrustedDirectory;

/// The suites of a run that have records, by name. Unreadable files are problems of their suite; if the path of the
/// suites is not a directory, this is a problem of the run.
///
/// # Errors
///
/// If the directory of the suites cannot be read.
pub fn suites_of(run: &Path, depth: ReadDepth) -> io::Result<(Vec<SuiteData>, Option<Problem>)> {
    let names = match UntrustedDirectory::new(run).join(SUITES).subdirectories() {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Ok((Vec::new(), Some(Problem::new(run, Path::new(SUITES), error.to_string()))));
        }
        names => names?,
    };
    let paths = names.into_iter().map(|name| Path::new(SUITES).join(name));
    let mut suites: Vec<SuiteData> = paths.flat_map(|path| read_suite(run, &path, depth)).collect();
    add_packages(run, &mut suites);
    // Whoever reads the run names the problem.
    let chosen: Option<ChosenTests> = read_run_record(run, Path::new(CHOSEN)).unwrap_or_default();
    suites.iter_mut().for_each(|suite| suite.chosen = chosen.as_ref().map(|chosen| chosen.of(&suite.id)));
    let labels = SuiteId::labels(&suites.iter().map(|suite| suite.id.clone()).collect::<Vec<_>>());
    for (suite, label) in suites.iter_mut().zip(labels) {
        suite.rename(&label);
    }
    suites.sort_by(|left, right| left.name.cmp(&right.name));
    Ok((suites, None))
}

/// Adds the packages of suites whose records do not say it: those of older versions have it in `run.json` only.
fn add_packages(run: &Path, suites: &mut [SuiteData]) {
    let mut unknown = suites.iter_mut().map(|suite| &mut suite.id).filter(|id| id.package.is_empty()).peekable();
    if unknown.peek().is_none() {
        return;
    }
    // Whoever reads the run names the problem.
    let record: Option<RunRecord> = read_run_record(run, Path::new(RUN_RECORD)).unwrap_or_default();
    for id in unknown {
        let recorded = record.iter().flat_map(|record| &record.suites).find(|suite| suite.name == id.name);
        id.package = recorded.map(|suite| suite.package.clone()).unwrap_or_default();
    }
}

/// The suite as each module includes it; nothing for one without any record. `path` is relative to the run.
fn read_suite(run: &Path, path: &Path, depth: ReadDepth) -> Vec<SuiteData> {
    let mut problems = Vec::new();
    let record: Option<SuiteRecord> = read_record(run, &path.join(SUITE_RECORD), &mut problems);
    let tests = record.as_ref().map_or(&[][..], |record| &record.tests);
    let cases = path.join(CASES);
    let names = UntrustedDirectory::new(run).join(&cases).subdirectories();
    let names = Problem::add_of(names, run, &cases, &mut problems);
    let mut attempts: BTreeMap<String, Vec<CaseData>> = BTreeMap::new();
    let mut reader = CaseReader { run, depth, suite: record.as_ref(), problems: &mut problems, running: Vec::new() };
    for case in names.into_iter().filter_map(|name| reader.read(&cases.join(name))) {
        let first = CaseDirectoryName { attempt: 1, ..case.name.clone() }.to_string();
        attempts.entry(first).or_default().push(case);
    }
    let running = reader.running;
    let mut cases = one_per_test(attempts.into_values().filter_map(last_attempt));
    // Of an attempt that died before another one counted, nothing is missing.
    let is_counted = |problem: &Problem| cases.iter().any(|case| Path::new(&problem.file).starts_with(&case.directory));
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
    let Some(name) = known.or_else(|| (!is_empty).then(of_directory)) else { return Vec::new() };
    let (id, directory) = (SuiteId::new(&name), run.join(path));
    by_module(SuiteData { name, id, directory, record, cases, running, problems, ..SuiteData::default() })
}

/// The suite as each module includes it.
fn by_module(suite: SuiteData) -> Vec<SuiteData> {
    let SuiteData { name, directory, record, cases, running, problems, .. } = suite;
    let tests = record.iter().flat_map(|record| &record.tests).map(|test| test.module.as_str());
    let mut modules: Vec<String> = tests.map(str::to_owned).collect();
    modules.extend(cases.iter().map(|case| case.record.module.clone()));
    modules.extend(running.iter().map(|started| started.module.clone()));
    // A suite without tests.
    let first = modules.first().cloned().unwrap_or_default();
    modules.push(first.clone());
    let part = |module: String| {
        let mut record = record.clone();
        record.iter_mut().for_each(|record| record.tests.retain(|test| test.module == module));
        let mut id = record.as_ref().map_or_else(SuiteId::default, |record| record.id(module.as_str()));
        id.name.clone_from(&name);
        let (name, directory) = (name.clone(), directory.clone());
        (module, SuiteData { name, id, directory, record, ..SuiteData::default() })
    };
    modules.sort_unstable();
    modules.dedup();
    let mut parts: BTreeMap<String, SuiteData> = modules.into_iter().map(part).collect();
    let of_case: BTreeMap<&Path, &String> =
        cases.iter().map(|case| (case.directory.as_path(), &case.record.module)).collect();
    for problem in problems {
        let module =
            Path::new(&problem.file).ancestors().find_map(|path| of_case.get(path).copied()).unwrap_or(&first).clone();
        parts.entry(module).and_modify(|part| part.problems.push(problem));
    }
    for started in running {
        parts.entry(started.module.clone()).and_modify(|part| part.running.push(started));
    }
    for case in cases {
        parts.entry(case.record.module.clone()).and_modify(|part| part.cases.push(case));
    }
    parts.into_values().collect()
}

/// The case of the last runner attempt, with the earlier ones.
fn last_attempt(mut attempts: Vec<CaseData>) -> Option<CaseData> {
    attempts.sort_by_key(|attempt| attempt.name.attempt);
    let last = attempts.pop()?;
    Some(last.with_other_attempts(attempts))
}

/// The case of each test, of several the one of the last runner attempt. A test has one directory per stress run, but a copy of a
/// directory may lie next to it.
fn one_per_test(cases: impl Iterator<Item = CaseData>) -> Vec<CaseData> {
    let mut tests: BTreeMap<_, CaseData> = BTreeMap::new();
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

/// Reads a record of a run. `None` if it does not exist, or if it is not such a record: then the problem is added.
pub fn read_record<T: serde::de::DeserializeOwned>(run: &Path, file: &Path, problems: &mut Vec<Problem>) -> Option<T> {
    Problem::add_of(read_run_record(run, file), run, file, problems)
}
