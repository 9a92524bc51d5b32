//! The summary of a run from what its tests wrote.

use std::{collections::BTreeMap, io, path::Path};

use evalsuite_schema::{
    Object,
    record::{CaseRecord, ReasonCode, RunSummary, Stage, Started, SuiteRecord, SuiteSummary, TrialRecord},
};

use crate::{
    platform::{
        file_lock::FileLock,
        files::{below, read_json},
    },
    record::summary::{SummedCase, by_target},
};

/// Sums up a run, with the last attempt of the test runner at every case.
///
/// # Errors
///
/// If a record cannot be read.
pub(crate) fn of_run(run: &Path, run_id: &str) -> io::Result<RunSummary> {
    let mut suites = Vec::new();
    for directory in below(&run.join("suites"))? {
        suites.extend(of_suite(&directory, run_id)?);
    }
    suites.sort_by(|left, right| left.suite.cmp(&right.suite));
    let mut summary = RunSummary::new();
    (summary.run_id, summary.suites) = (run_id.to_owned(), suites);
    Ok(summary)
}

/// A case with its trials, as they are on disk.
struct Stored {
    record: CaseRecord,
    trials: Vec<TrialRecord>,
    metadata: Object,
}

/// `None` for a suite of which no case has a record.
fn of_suite(directory: &Path, run_id: &str) -> io::Result<Option<SuiteSummary>> {
    let known: Option<SuiteRecord> = read_json(&directory.join("suite.json"))?;
    let mut problems: BTreeMap<String, String> = BTreeMap::new();
    let mut cases: BTreeMap<String, Stored> = BTreeMap::new();
    for case in below(&directory.join("cases"))? {
        let Some(record) = read_json::<CaseRecord>(&case.join("case.json"))? else {
            if let Some(problem) = died(&case)? {
                problems.insert(without_attempt(&case), problem);
            }
            continue;
        };
        let mut trials: Vec<TrialRecord> = Vec::new();
        for trial in &record.trials {
            trials.extend(read_json::<TrialRecord>(&case.join(&trial.path))?);
        }
        let metadata = trials.first().map(|trial| trial.metadata.clone()).unwrap_or_default();
        let name = without_attempt(&case);
        let is_older = cases.get(&name).is_some_and(|stored| stored.record.runner_attempt > record.runner_attempt);
        if !is_older {
            cases.insert(name, Stored { record, trials, metadata });
        }
    }
    // Another attempt at the case has come to an end.
    problems.retain(|name, _| !cases.contains_key(name));
    // In the suite's order.
    let order = |record: &CaseRecord| {
        let tests = known.iter().flat_map(|known| &known.tests);
        tests.into_iter().position(|test| test.test_name == record.test_name).unwrap_or(usize::MAX)
    };
    let mut cases: Vec<Stored> = cases.into_values().collect();
    cases.sort_by_cached_key(|case| order(&case.record));
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
    summary.problems = problems.into_values().collect();
    summary.cases = cases.into_iter().map(|case| case.record).collect();
    Ok(Some(summary))
}

/// Name of a case's directory without the attempt of the test runner in it.
fn without_attempt(case: &Path) -> String {
    let name = case.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match name.split_once(".attempt-") {
        Some((case, attempt)) => format!("{case}{}", attempt.trim_start_matches(|digit: char| digit.is_ascii_digit())),
        None => name,
    }
}

/// What became of a case without a record: while its test runs, that holds the case's lock.
fn died(case: &Path) -> io::Result<Option<String>> {
    for trial in below(case)?.iter().filter(|path| path.is_dir() && !path.join("result.json").exists()) {
        if let Some(started) = read_json::<Started>(&trial.join("started.json"))? {
            let Started { case_id, target, trial, pid, .. } = &started;
            let about = format!("case `{case_id}` (target `{target}`)");
            return Ok(Some(if is_at_work(case, &started)? {
                format!("{about} still runs, in process {pid}")
            } else {
                let (stage, code) = (Stage::Agent.as_str(), ReasonCode::ProcessDied.as_str());
                format!("evaluation error ({stage}/{code}): {about}  process {pid} died in trial {trial}")
            }));
        }
    }
    Ok(None)
}

/// Process ids come again, and other machines have their own; a lock is held by who works, or by nobody.
fn is_at_work(case: &Path, started: &Started) -> io::Result<bool> {
    let run = case.ancestors().nth(4).unwrap_or(case);
    let lock = run.join(&started.lock);
    Ok(lock.is_file() && FileLock::try_acquire(&lock)?.is_none())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_trial_whose_process_is_gone_is_an_error_and_one_at_work_is_not() {
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
        assert_eq!(died(&case).unwrap().as_deref(), Some("case `c` (target `default`) still runs, in process 1"));
        drop(lock);
        let died = "evaluation error (agent/process_died): case `c` (target `default`)  process 1 died in trial 0";
        assert_eq!(super::died(&case).unwrap().as_deref(), Some(died));
        let summary = of_run(run.path(), "r").unwrap();
        assert_eq!(summary.suites.len(), 0, "a suite without a record of its own has no name");
        assert_eq!(without_attempt(&case), "c-12345678");
        assert_eq!(without_attempt(Path::new("c-1.attempt-12.stress-3")), "c-1.stress-3");
    }
}
