//! The summary of a run from the records of its tests.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use evalsuite_schema::Object;
use evalsuite_schema::record::{
    CaseRecord, ReasonCode, RunSummary, Stage, Started, SuiteRecord, SuiteSummary, SuiteTest, TrialRecord,
};

use crate::platform::file_lock::FileLock;
use crate::platform::files::{read_json, sorted_entries};
use crate::record::case_records::read_record;
use crate::record::run_directory::layout::{
    CASE_RECORD, CASES, CaseDirectoryName, SUITE_RECORD, SUITES, TRIAL_RECORD, TRIAL_STARTED,
};
use crate::record::summary::{SummedCase, by_target};

/// Sums up a run. Of several runner attempts at a case, the last one counts.
///
/// # Errors
///
/// If a record cannot be read.
pub(crate) fn of_run(run: &Path, run_id: &str) -> io::Result<RunSummary> {
    let mut suites = Vec::new();
    for directory in sorted_entries(&run.join(SUITES))? {
        suites.extend(of_suite(&directory, run_id)?);
    }
    suites.sort_by(|left, right| left.suite.cmp(&right.suite));
    let mut summary = RunSummary::new();
    (summary.run_id, summary.suites) = (run_id.to_owned(), suites);
    Ok(summary)
}

/// The records of a case and its trials.
struct StoredCase {
    record: CaseRecord,
    trials: Vec<TrialRecord>,
    metadata: Object,
}

/// `None` for a suite without records.
fn of_suite(directory: &Path, run_id: &str) -> io::Result<Option<SuiteSummary>> {
    let known: Option<SuiteRecord> = read_json(&directory.join(SUITE_RECORD))?;
    let mut problems: BTreeMap<String, MissingRecord> = BTreeMap::new();
    let mut cases: BTreeMap<String, StoredCase> = BTreeMap::new();
    for case in sorted_entries(&directory.join(CASES))? {
        let name = without_attempt(&case);
        let stored = match read_case(&case) {
            Ok(stored) => stored,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(Some(MissingRecord::unreadable(&name, &error)))
            }
            Err(error) => return Err(error),
        };
        match stored {
            Ok(stored) => {
                let attempt = stored.record.runner_attempt;
                if cases.get(&name).is_none_or(|other| other.record.runner_attempt <= attempt) {
                    cases.insert(name, stored);
                }
            }
            Err(problem) => problems.extend(problem.map(|problem| (name, problem))),
        }
    }
    // Another runner attempt at the case has ended.
    problems.retain(|name, _| !cases.contains_key(name));
    // In the suite's order.
    let order = |record: &CaseRecord| {
        let tests = known.iter().flat_map(|known| &known.tests);
        tests.into_iter().position(|test| test.test_name == record.test_name).unwrap_or(usize::MAX)
    };
    let mut cases = one_per_test(cases);
    cases.sort_by_cached_key(|case| order(&case.record));
    let is_over = |test: &SuiteTest| {
        let is_recorded = |case: &StoredCase| {
            let record = &case.record;
            record.test_name == test.test_name && [test.program.as_str(), ""].contains(&record.program.as_str())
        };
        cases.iter().any(is_recorded) || problems.values().any(|problem| problem.case_id == test.case_id)
    };
    let tests = known.iter().flat_map(|known| &known.tests);
    let not_started = tests.filter(|test| !is_over(test)).map(|test| test.test_name.clone()).collect();
    let Some(suite) = cases.first().map(|case| case.record.suite.clone()).or_else(|| known.map(|known| known.name))
    else {
        return Ok(None);
    };
    let summed: Vec<SummedCase<'_>> = cases
        .iter()
        .map(|case| SummedCase { record: &case.record, trials: &case.trials, metadata: &case.metadata })
        .collect();
    let targets = by_target(&summed);
    let mut summary = SuiteSummary::new();
    (summary.run_id, summary.suite, summary.targets) = (run_id.to_owned(), suite, targets);
    summary.problems = problems.into_values().map(|problem| problem.message).collect();
    summary.not_started = not_started;
    summary.cases = cases.into_iter().map(|case| case.record).collect();
    Ok(Some(summary))
}

/// The records of a case, or why there are none.
fn read_case(case: &Path) -> io::Result<Result<StoredCase, Option<MissingRecord>>> {
    let Some(record) = read_record::<CaseRecord>(case, CASE_RECORD)? else { return missing_record(case).map(Err) };
    let mut trials: Vec<TrialRecord> = Vec::new();
    for trial in &record.trials {
        trials.extend(read_record::<TrialRecord>(case, &trial.path)?);
    }
    let metadata = trials.first().map(|trial| trial.metadata.clone()).unwrap_or_default();
    Ok(Ok(StoredCase { record, trials, metadata }))
}

/// The records of each test, of several the one of the last runner attempt. A test has one directory per stress run, but a copy
/// of a directory may lie beside it.
fn one_per_test(cases: BTreeMap<String, StoredCase>) -> Vec<StoredCase> {
    let mut tests: BTreeMap<_, StoredCase> = BTreeMap::new();
    for (directory, case) in cases {
        let record = &case.record;
        let (program, test, target) = (record.program.clone(), record.test_name.clone(), record.target.clone());
        let test = (program, test, target, CaseDirectoryName::parse(&directory).stress);
        let attempt = record.runner_attempt;
        if tests.get(&test).is_none_or(|counted| counted.record.runner_attempt < attempt) {
            tests.insert(test, case);
        }
    }
    tests.into_values().collect()
}

/// Name of a case's directory without the runner attempt.
fn without_attempt(case: &Path) -> String {
    let name = case.file_name().unwrap_or_default().to_string_lossy();
    CaseDirectoryName { attempt: 1, ..CaseDirectoryName::parse(&name) }.to_string()
}

/// Why a case has no record.
struct MissingRecord {
    case_id: String,
    message: String,
}

impl MissingRecord {
    /// Something that is not a record is in its place.
    fn unreadable(name: &str, error: &io::Error) -> Self {
        let message = format!("evaluation error (records): case `{name}`  {error}");
        Self { case_id: name.to_owned(), message }
    }
}

/// Why a case has no record: its process died, or its test is still running.
fn missing_record(case: &Path) -> io::Result<Option<MissingRecord>> {
    let mut last = None;
    for trial in sorted_entries(case)?.iter().filter(|path| path.is_dir()) {
        let name = trial.file_name().unwrap_or_default();
        let Some(started) = read_record::<Started>(case, Path::new(name).join(TRIAL_STARTED))? else { continue };
        let has_ended = trial.join(TRIAL_RECORD).exists();
        last = Some((started, has_ended));
        if !has_ended {
            break;
        }
    }
    let Some((started, has_ended)) = last else { return Ok(None) };
    let Started { case_id, target, trial, pid, .. } = &started;
    let about = format!("case `{case_id}` (target `{target}`)");
    let message = if is_running(case, &started)? {
        format!("{about} is still running in process {pid}")
    } else {
        let (stage, code) = (Stage::Agent.as_str(), ReasonCode::ProcessDied.as_str());
        let place = if has_ended { "after" } else { "in" };
        format!("evaluation error ({stage}/{code}): {about}  process {pid} died {place} trial {trial}")
    };
    Ok(Some(MissingRecord { case_id: started.case_id, message }))
}

/// Whether the case's lock is held. Process ids are reused, and mean nothing on another machine.
fn is_running(case: &Path, started: &Started) -> io::Result<bool> {
    let run = case.ancestors().nth(4).unwrap_or(case);
    FileLock::is_held(&run.join(&started.lock))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_not_a_record_is_a_problem_of_its_case_only() {
        let run = tempfile::tempdir().unwrap();
        let cases = run.path().join("suites/s/cases");
        for (name, text) in [
            ("a-12345678", "not JSON".to_owned()),
            ("b-12345678", {
                let mut record = CaseRecord::new();
                (record.suite, record.test_name) = ("s".to_owned(), "evals::b".to_owned());
                serde_json::to_string(&record).unwrap()
            }),
        ] {
            fs::create_dir_all(cases.join(name)).unwrap();
            fs::write(cases.join(name).join("case.json"), text).unwrap();
        }
        let summary = of_run(run.path(), "r").unwrap();
        let suite = &summary.suites[0];
        assert_eq!((suite.cases.len(), suite.problems.len()), (1, 1));
        assert!(
            suite.problems[0].starts_with("evaluation error (records): case `a-12345678`  "),
            "{:?}",
            suite.problems
        );
    }

    #[test]
    fn a_test_counts_once_whatever_lies_beside_its_directory() {
        let run = tempfile::tempdir().unwrap();
        let write = |name: &str, test: &str, attempt| {
            let mut record = CaseRecord::new();
            (record.suite, record.test_name, record.runner_attempt) = ("s".to_owned(), test.to_owned(), attempt);
            let directory = run.path().join("suites/s/cases").join(name);
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("case.json"), serde_json::to_vec(&record).unwrap()).unwrap();
        };
        write("a-12345678", "evals::a", 1);
        write("a-12345678.test-89abcdef", "evals::a", 1);
        write("copy of a-12345678", "evals::a", 1);
        write("a-12345678.test-fedcba98", "again::a", 1);
        write("b-12345678", "evals::b", 1);
        write("b-12345678.test-89abcdef.attempt-2", "evals::b", 2);
        write("c-12345678.stress-0", "evals::c", 1);
        write("c-12345678.stress-1", "evals::c", 1);
        let summary = of_run(run.path(), "r").unwrap();
        let counted = summary.suites[0].cases.iter().map(|case| (case.test_name.as_str(), case.runner_attempt));
        let expected = [("again::a", 1), ("evals::a", 1), ("evals::b", 2), ("evals::c", 1), ("evals::c", 1)];
        assert_eq!(counted.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_trial_without_a_record_is_an_error_only_if_its_process_died() {
        let run = tempfile::tempdir().unwrap();
        let case = run.path().join("suites/s/cases/c-12345678.attempt-2");
        let mut started = Started::new();
        started.run_id = "r".to_owned();
        started.suite = "s".to_owned();
        started.case_id = "c".to_owned();
        started.target = "default".to_owned();
        started.pid = 1;
        started.lock = "locks/c-12345678.lock".to_owned();
        fs::create_dir_all(case.join("trial-000")).unwrap();
        fs::write(case.join("trial-000/started.json"), serde_json::to_vec(&started).unwrap()).unwrap();
        let lock = FileLock::acquire(&run.path().join(&started.lock)).unwrap();
        assert_eq!(
            missing_record(&case).unwrap().map(|missing| missing.message).as_deref(),
            Some("case `c` (target `default`) is still running in process 1")
        );
        drop(lock);
        let died = "evaluation error (agent/process_died): case `c` (target `default`)  process 1 died in trial 0";
        assert_eq!(missing_record(&case).unwrap().map(|missing| missing.message).as_deref(), Some(died));
        let summary = of_run(run.path(), "r").unwrap();
        assert_eq!(summary.suites.len(), 0, "a suite without a record of its own has no name");
        assert_eq!(without_attempt(&case), "c-12345678");
        assert_eq!(without_attempt(Path::new("c-1.attempt-12.stress-3")), "c-1.stress-3");
    }
}
