//! Finds the trials of an earlier run, to grade them again.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use evalsuite_schema::record::{CaseRecord, Mode, ReasonCode, TrialRecord};

use crate::platform::digest::file_key;
use crate::platform::json;
use crate::record::cassette::ReplayError;
use crate::record::run_directory::RunDirectory;
use crate::record::run_directory::layout::CASE_RECORD;

/// Runner attempts that are searched.
const RUNNER_ATTEMPTS: u32 = 20;
/// File beside the record with everything that grading again needs.
pub(crate) const EVIDENCE: &str = "evidence.json";

/// The trials of a case in an earlier run.
#[derive(Debug)]
pub(crate) struct EarlierTrials {
    pub(crate) run_id: String,
    directory: PathBuf,
    /// Number of trials without a gap, from the first one.
    pub(crate) trials: u32,
}

impl EarlierTrials {
    /// Directory of a trial: that of its last attempt.
    pub(crate) fn trial(&self, index: u32) -> PathBuf {
        last_attempt(&self.directory, index).unwrap_or_else(|| self.directory.join(format!("trial-{index:03}")))
    }

    /// The record of a trial.
    pub(crate) fn record(&self, index: u32) -> Option<TrialRecord> {
        read(&self.trial(index))
    }
}

/// The trials of a case in the wanted run; for `latest` those of the newest run that has any.
///
/// # Errors
///
/// If there are none.
pub(crate) fn find_trials(
    run: &RunDirectory,
    wanted: &str,
    suite: &str,
    case_key: &str,
    test: &str,
) -> Result<EarlierTrials, ReplayError> {
    let missing = |message| ReplayError { code: ReasonCode::RecordingMissing, message };
    let Some(runs) = run.path().parent() else {
        return Err(missing("there are no earlier runs".to_owned()));
    };
    let of = |directory: &Path| {
        newest_of_case(&directory.join("suites").join(file_key(suite)).join("cases"), case_key, test)
    };
    if wanted != "latest" {
        let directory = runs.join(wanted);
        if !is_name(wanted) || !directory.is_dir() {
            let message = format!("EVALSUITE_REGRADE is `{wanted}`, but there is no such run in {}", runs.display());
            return Err(ReplayError { code: ReasonCode::InvalidSetting, message });
        }
        return match of(&directory) {
            Some((directory, _)) => Ok(earlier(wanted, directory)),
            None => Err(missing(format!(
                "run `{wanted}` has no trial of this case; run the test without EVALSUITE_REGRADE to make one"
            ))),
        };
    }
    let entries = fs::read_dir(runs).into_iter().flatten().flatten();
    let found = entries
        .filter(|entry| entry.file_name() != run.run_id.as_str())
        .filter_map(|entry| {
            let (directory, time) = of(&entry.path()).filter(|(directory, _)| has_results(directory))?;
            Some((time, entry.file_name().to_string_lossy().into_owned(), directory))
        })
        .max();
    match found {
        Some((_, id, directory)) => Ok(earlier(&id, directory)),
        None => Err(missing(format!(
            "no run in {} has a trial of this case; run the test without EVALSUITE_REGRADE to make one",
            runs.display()
        ))),
    }
}

fn earlier(run_id: &str, directory: PathBuf) -> EarlierTrials {
    let is_surplus = surplus(&directory);
    let counts = |index: &u32| last_attempt(&directory, *index).is_some() && !is_surplus.contains(index);
    let count = (0..1000).take_while(counts).count();
    EarlierTrials { run_id: run_id.to_owned(), directory, trials: u32::try_from(count).unwrap_or(u32::MAX) }
}

/// The trials that do not count. A case whose process died has no record that says so.
fn surplus(case: &Path) -> Vec<u32> {
    let record = fs::read(case.join(CASE_RECORD)).ok().and_then(|bytes| json::decode::<CaseRecord>(&bytes).ok());
    record.into_iter().flat_map(|record| record.surplus).map(|trial| trial.index).collect()
}

/// The case's directory in a run, and when its first trial ended. The last runner attempt is preferred, and this test to
/// other tests of the same case.
pub(crate) fn newest_of_case(cases: &Path, case_key: &str, test: &str) -> Option<(PathBuf, SystemTime)> {
    let attempts = |name: &str| {
        let name = name.to_owned();
        (1..=RUNNER_ATTEMPTS).rev().map(move |attempt| match attempt {
            1 => name.clone(),
            attempt => format!("{name}.attempt-{attempt}"),
        })
    };
    let own = attempts(case_key).find_map(|name| ended(cases.join(name)));
    match own {
        Some(found) if read(&found.0.join("trial-000")).is_some_and(|record| record.test_name == test) => Some(found),
        own => {
            let of_others = format!("{case_key}.test-");
            let others = fs::read_dir(cases).into_iter().flatten().flatten();
            others
                .map(|entry| entry.path())
                .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&of_others)))
                .filter(|path| read(&path.join("trial-000")).is_some_and(|record| record.test_name == test))
                .filter_map(ended)
                .max_by_key(|(_, time)| *time)
                .or(own)
        }
    }
}

/// Whether a trial has results of its agent, also replayed ones. One that failed to replay or to be graded again has none.
fn has_results(case: &Path) -> bool {
    let Some(trial) = last_attempt(case, 0) else { return false };
    trial.join(EVIDENCE).is_file()
        || read(&trial).is_some_and(|record| matches!(record.mode, Mode::Live | Mode::Record))
}

fn ended(case: PathBuf) -> Option<(PathBuf, SystemTime)> {
    let time = fs::metadata(last_attempt(&case, 0)?.join("result.json")).ok()?.modified().ok()?;
    Some((case, time))
}

fn last_attempt(case: &Path, index: u32) -> Option<PathBuf> {
    let retries = (1..=10).rev().map(|retry| format!("trial-{index:03}.retry-{retry}"));
    retries
        .chain([format!("trial-{index:03}")])
        .map(|name| case.join(name))
        .find(|directory| directory.join("result.json").is_file())
}

fn read(trial: &Path) -> Option<TrialRecord> {
    json::decode(&fs::read(trial.join("result.json")).ok()?).ok()
}

/// Whether a run id is the name of one directory.
fn is_name(id: &str) -> bool {
    !id.is_empty() && id != "." && id != ".." && crate::platform::digest::safe(id) == id
}
