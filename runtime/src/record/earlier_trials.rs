//! The trials of a case in an earlier run, as far as they ended.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use evalsuite_records::record::{Reason, Stage, Status, TrialRecord};
use evalsuite_schema::json::FromJson;

use crate::platform::files::read_json;
use crate::record::run_directory::layout::{
    CASE_RECORD, CASES, CaseDirectoryName, EVIDENCE, SUITES, TRIAL_RECORD, TRIAL_STARTED, trial_directory_name,
};

/// The trials of a case in an earlier run.
#[derive(Debug)]
pub(crate) struct EarlierTrials {
    pub(crate) run_id: String,
    case: CaseTrials,
    /// Number of trials without a gap, from the first one.
    pub(crate) trials: u32,
    /// Number of trials that were planned, at least that of those that ran.
    pub(crate) planned: u32,
}

/// A case in an earlier run.
#[derive(Debug)]
pub(crate) struct CaseTrials {
    pub(crate) directory: PathBuf,
    /// Directories of the last attempts at its trials that ended, by the index of the trial.
    pub(crate) last_attempts: BTreeMap<u32, PathBuf>,
    /// Whether the test runner repeated the case, and its last attempt has another outcome than this one.
    pub(crate) is_outdone: bool,
}

/// The few fields of a record of a case or trial that are asked for.
#[derive(Debug, Clone, Default, FromJson)]
#[json(default)]
struct RecordFacts {
    test_name: String,
    mode: Option<String>,
    /// Of a case.
    outcome: Option<Status>,
    /// Of a case.
    planned: u32,
    /// Of a trial.
    trials_planned: u32,
    trials: Vec<TrialOfCase>,
    confirming: Vec<TrialOfCase>,
}

#[derive(Debug, Clone, FromJson)]
struct TrialOfCase {
    index: u32,
}

impl EarlierTrials {
    pub(crate) fn new(run_id: String, case: CaseTrials) -> Self {
        let confirming = case.confirming();
        let is_gap = |trial: &u32| !case.last_attempts.contains_key(trial) || confirming.contains(trial);
        let trials = (0..).find(is_gap).unwrap_or(u32::MAX);
        let planned = case.planned().max(trials).max(1);
        Self { run_id, case, trials, planned }
    }

    /// Directory of a trial: that of its last attempt.
    pub(crate) fn trial(&self, index: u32) -> PathBuf {
        let CaseTrials { directory, last_attempts, .. } = &self.case;
        last_attempts.get(&index).cloned().unwrap_or_else(|| directory.join(trial_directory_name(index, 0)))
    }

    /// How a trial ended without a verdict. `turn`: what the reason begins with, which is left out.
    pub(crate) fn end(&self, index: u32, turn: &str) -> Option<(Status, Reason)> {
        let record: TrialRecord = read_json(&self.trial(index).join(TRIAL_RECORD)).ok()??;
        let mut reason = record.reason.filter(|_| matches!(record.outcome, Status::Error | Status::Skipped))?;
        reason.message = format!("in run {}: {}", self.run_id, reason.message.strip_prefix(turn)?);
        Some((record.outcome, reason))
    }

    /// How a conversation ended, if it ended in this turn: by the agent, or by the simulated user.
    pub(crate) fn end_in_turn(&self, index: u32, turn: u32) -> Option<(Status, Reason)> {
        let end = self.end(index, &format!("turn {}: ", turn + 1))?;
        is_without_outcome(end.1.stage).then_some(end)
    }
}

/// Whether a trial, or a turn, that ended in this stage has nothing to grade.
pub(crate) fn is_without_outcome(stage: Stage) -> bool {
    matches!(stage, Stage::Agent | Stage::User | Stage::Capture)
}

/// Whether a case was to run: its process may have died before it wrote anything. One that was skipped was not.
pub(crate) fn has_begun(cases: &Path, case_key: &str) -> bool {
    let is_of_case =
        |name: &str| name.strip_prefix(case_key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let entries = fs::read_dir(cases).into_iter().flatten().flatten();
    let of_case = entries.filter(|entry| is_of_case(&entry.file_name().to_string_lossy())).map(|entry| entry.path());
    let is_skipped = |case: &Path| {
        let record = facts(&case.join(CASE_RECORD));
        record.is_some_and(|record| record.outcome == Some(Status::Skipped) && record.trials.is_empty())
    };
    of_case.into_iter().any(|case| !is_skipped(&case))
}

/// Whether any case of a run has trials.
pub(crate) fn has_trials(run: &Path) -> bool {
    let below = |directory: &Path| fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut cases = below(&run.join(SUITES)).flat_map(|suite| below(&suite.join(CASES)));
    cases.any(|case| CaseTrials::read(case).is_ok_and(|case| case.is_some()))
}

/// The case in a run, in the attempt of the test runner that measures the agent. This test is preferred to other tests of the same case.
pub(crate) fn newest_of_case(cases: &Path, case_key: &str, test: &str) -> Option<CaseTrials> {
    let own = measured_attempt(cases, case_key);
    if own.as_ref().is_some_and(|case| case.is_of(test)) {
        return own;
    }
    let of_others = format!("{case_key}.test-");
    let entries = fs::read_dir(cases).into_iter().flatten().flatten();
    let others = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&of_others));
    let of_test = others.filter_map(|entry| CaseTrials::read(entry.path()).ok()?).filter(|case| case.is_of(test));
    of_test.max_by_key(CaseTrials::first_ended).or(own)
}

/// Of the attempts of the test runner whose first trial ended, the first one that passed or failed, else the last one: a runner repeats what
/// failed until it passes. A process that died may have left no directory of its attempt.
fn measured_attempt(cases: &Path, case_key: &str) -> Option<CaseTrials> {
    let mut attempts: Vec<CaseTrials> = Vec::new();
    let mut missing = 0;
    let mut name = CaseDirectoryName { case_key: case_key.to_owned(), test: None, attempt: 1, stress: None };
    while missing < 2 {
        match CaseTrials::read(cases.join(name.to_string())) {
            Ok(case) => {
                attempts.extend(case);
                missing = 0;
            }
            Err(_) => missing += 1,
        }
        name.attempt += 1;
    }
    let last = attempts.pop()?;
    let first = attempts.into_iter().find_map(|case| Some((case.result()?, case)));
    Some(match first {
        Some((result, case)) => CaseTrials { is_outdone: last.result() != Some(result), ..case },
        None => last,
    })
}

impl CaseTrials {
    /// Reads the directory of a case; `None` if its first trial has not ended.
    fn read(directory: PathBuf) -> io::Result<Option<Self>> {
        let entries = fs::read_dir(&directory)?.flatten();
        let attempts: BTreeSet<(u32, u32)> =
            entries.filter_map(|entry| trial_and_attempt(&entry.file_name().to_string_lossy())).collect();
        let mut last_attempts = BTreeMap::new();
        for (trial, attempt) in attempts {
            let path = directory.join(trial_directory_name(trial, attempt));
            if path.join(TRIAL_RECORD).is_file() {
                last_attempts.insert(trial, path);
            }
        }
        Ok(last_attempts.contains_key(&0).then_some(Self { directory, last_attempts, is_outdone: false }))
    }

    /// Whether the case was run by this test.
    fn is_of(&self, test: &str) -> bool {
        // The first one is the shortest. It did not always have the name.
        [TRIAL_STARTED, TRIAL_RECORD]
            .into_iter()
            .filter_map(|file| facts(&self.last_attempts[&0].join(file)))
            .find(|facts| !facts.test_name.is_empty())
            .is_some_and(|facts| facts.test_name == test)
    }

    /// Whether the case passed or failed; `None` if it did neither.
    fn result(&self) -> Option<Status> {
        let outcome = facts(&self.directory.join(CASE_RECORD))?.outcome;
        outcome.filter(|outcome| matches!(outcome, Status::Passed | Status::Failed))
    }

    /// Whether the first trial has results of its agent, also replayed ones. One that failed to replay or to be graded again has none.
    pub(crate) fn has_results(&self) -> bool {
        let trial = &self.last_attempts[&0];
        let mode = || facts(&trial.join(TRIAL_RECORD)).unwrap_or_default().mode;
        let is_live = || matches!(mode().as_deref(), Some("live" | "record"));
        trial.join(EVIDENCE).is_file() || is_live()
    }

    /// When the first trial ended.
    pub(crate) fn first_ended(&self) -> Option<SystemTime> {
        self.last_attempts[&0].join(TRIAL_RECORD).metadata().ok()?.modified().ok()
    }

    /// Number of trials that were planned, as far as a record says. The process of a case may have died before it had one.
    fn planned(&self) -> u32 {
        let of_case = facts(&self.directory.join(CASE_RECORD)).unwrap_or_default().planned;
        let trials = self.last_attempts.values().filter_map(|trial| facts(&trial.join(TRIAL_RECORD)));
        trials.map(|trial| trial.trials_planned).fold(of_case, u32::max)
    }

    /// Trials that repeated the case, which no trial of it is. The first one is never among them.
    fn confirming(&self) -> Vec<u32> {
        if self.last_attempts.len() == 1 {
            return Vec::new();
        }
        let record = facts(&self.directory.join(CASE_RECORD)).unwrap_or_default();
        record.confirming.iter().map(|summary| summary.index).collect()
    }
}

/// The trial and the attempt whose directory has this name.
fn trial_and_attempt(name: &str) -> Option<(u32, u32)> {
    let name = name.strip_prefix("trial-")?;
    let (trial, attempt) = name.split_once(".retry-").unwrap_or((name, "0"));
    Some((trial.parse().ok()?, attempt.parse().ok()?))
}

fn facts(record: &Path) -> Option<RecordFacts> {
    read_json(record).ok()?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_attempts_are_found_however_many_there_are() {
        let cases = tempfile::tempdir().unwrap();
        let result = |directory: &str| {
            let directory = cases.path().join(directory);
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join(TRIAL_RECORD), r#"{"test_name": "t"}"#).unwrap();
        };
        let found = || newest_of_case(cases.path(), "c-01234567", "t");
        assert!(found().is_none());
        let started = cases.path().join("c-01234567.attempt-7/trial-000/started.json");
        // The process of the first runner attempt died before it wrote anything.
        (2..=25).for_each(|attempt| result(&format!("c-01234567.attempt-{attempt}/trial-000")));
        fs::write(started, r#"{"test_name": "other"}"#).unwrap();
        (0..=12).for_each(|retry| result(&format!("c-01234567.attempt-25/{}", trial_directory_name(1, retry))));
        fs::create_dir(cases.path().join("c-01234567.attempt-25/trial-001.retry-13")).unwrap();
        let earlier = EarlierTrials::new("r".to_owned(), found().unwrap());
        assert_eq!(earlier.trials, 2);
        let last = cases.path().join("c-01234567.attempt-25/trial-001.retry-12");
        assert_eq!(earlier.trial(1), last);

        // The test that ran the case is in the record of its start, and was not always.
        let of = |attempt: u32, test: &str| {
            CaseTrials::read(cases.path().join(format!("c-01234567.attempt-{attempt}"))).unwrap().unwrap().is_of(test)
        };
        assert!(of(7, "other") && !of(7, "t") && of(8, "t") && !of(8, "other"));
    }

    #[test]
    fn of_repeated_cases_the_first_attempt_with_a_result_is_found() {
        for (outcomes, found, is_outdone) in [
            (&["error", "failed", "failed", "passed"][..], 2, true),
            (&["failed", "failed"], 1, false),
            (&["failed", "error"], 1, true),
            (&["error", "passed"], 2, false),
            (&["error", "error"], 2, false),
        ] {
            let cases = tempfile::tempdir().unwrap();
            for (attempt, outcome) in (1..).zip(outcomes) {
                let name = CaseDirectoryName { case_key: "c-01234567".to_owned(), test: None, attempt, stress: None };
                let trial = cases.path().join(name.to_string()).join("trial-000");
                fs::create_dir_all(&trial).unwrap();
                fs::write(trial.join(TRIAL_RECORD), r#"{"test_name": "t"}"#).unwrap();
                let record = format!(r#"{{"test_name": "t", "outcome": "{outcome}"}}"#);
                fs::write(cases.path().join(name.to_string()).join(CASE_RECORD), record).unwrap();
            }
            let case = newest_of_case(cases.path(), "c-01234567", "t").unwrap();
            let name = CaseDirectoryName::parse(case.directory.file_name().unwrap().to_str().unwrap());
            assert_eq!((name.attempt, case.is_outdone), (found, is_outdone), "{outcomes:?}");
        }
    }
}
