//! Reads one attempt at a case.

use std::path::{Path, PathBuf};

use super::lost_case::{LostTrial, lost_case, trial_without_record};
use super::read_suite::read_record;
use super::{Affected, CaseData, Problem, ReadDepth, TrialData};
use crate::file_lock::FileLock;
use crate::record::{CaseRecord, Started, SuiteRecord, TrialRecord, TrialSummary};
use crate::run_directory::{CASE_RECORD, CaseDirectoryName, TRIAL_RECORD, TRIAL_STARTED};
use crate::untrusted::UntrustedDirectory;

/// What the directory of a case holds.
pub(super) enum FoundCase {
    /// A case that ended or died.
    Stored(Box<CaseData>),
    /// A case whose test is running.
    Running(Box<Started>),
    /// No trial has started.
    NotStarted,
}

/// Reads the directory of a case, which is relative to the run.
pub(super) fn read_case(
    run: &Path,
    directory: &Path,
    depth: ReadDepth,
    suite: Option<&SuiteRecord>,
    problems: &mut Vec<Problem>,
) -> FoundCase {
    let name = CaseDirectoryName::parse(&directory.file_name().unwrap_or_default().to_string_lossy());
    let known = problems.len();
    if let Some(record) = read_record::<CaseRecord>(run, &directory.join(CASE_RECORD), problems) {
        let trials = match depth {
            ReadDepth::Cases => Vec::new(),
            ReadDepth::Trials => {
                record.trials.iter().map(|trial| read_trial(run, directory, &record, trial, problems)).collect()
            }
        };
        let directory = directory.to_owned();
        return FoundCase::Stored(Box::new(CaseData { name, directory, record, trials, earlier: Vec::new() }));
    }
    let is_unreadable = problems.len() > known;
    without_record(run, directory, name, is_unreadable, suite, problems)
}

fn read_trial(
    run: &Path,
    case: &Path,
    record: &CaseRecord,
    summary: &TrialSummary,
    problems: &mut Vec<Problem>,
) -> TrialData {
    let file = case.join(&summary.path);
    let known = problems.len();
    let directory = file.parent().unwrap_or(case).to_owned();
    if let Some(record) = read_record(run, &file, problems) {
        return TrialData { directory, record };
    }
    if problems.len() == known {
        problems.push(Problem::new(run, &file, "is missing"));
    }
    TrialData { directory, record: trial_without_record(record, summary) }
}

/// A case whose process died or is still running, or whose record cannot be read: what its trials tell of it.
fn without_record(
    run: &Path,
    directory: &Path,
    name: CaseDirectoryName,
    is_unreadable: bool,
    suite: Option<&SuiteRecord>,
    problems: &mut Vec<Problem>,
) -> FoundCase {
    let names = UntrustedDirectory::new(run).join(directory).subdirectories();
    let names = Problem::add_of(names, run, directory, problems);
    let mut started: Option<Started> = None;
    let mut trials: Vec<LostTrial> = Vec::new();
    for path in names.into_iter().map(|name| directory.join(name)) {
        let own: Option<Started> = read_record(run, &path.join(TRIAL_STARTED), problems);
        let result: Option<TrialRecord> = read_record(run, &path.join(TRIAL_RECORD), problems);
        started = own.clone().or(started);
        match (result, own) {
            (Some(record), _) => trials.push(LostTrial::Ended(Box::new(TrialData { directory: path, record }))),
            (None, Some(own)) => trials.push(LostTrial::Open(Box::new(own), path)),
            (None, None) => {}
        }
    }
    if trials.is_empty() && !is_unreadable {
        return FoundCase::NotStarted;
    }
    if let Some(started) = started.as_ref().filter(|started| is_running(run, started)) {
        let about = Affected::Running(started.case_id.clone(), started.target.clone());
        let message = format!("is still running in process {}", started.pid);
        problems.push(Problem { about, ..Problem::new(run, &directory.join(CASE_RECORD), message) });
        return FoundCase::Running(Box::new(started.clone()));
    }
    // Of several attempts at a trial, the last one counts; directories are sorted by trial and attempt.
    trials.reverse();
    trials.dedup_by_key(|trial| trial.index());
    trials.reverse();
    let case = lost_case(name, directory.to_owned(), started.as_ref(), trials, suite);
    if !is_unreadable {
        let about = Affected::Died(case.record.case_id.clone(), case.record.target.clone());
        let message = case.record.reason.as_ref().map(|reason| reason.message.clone()).unwrap_or_default();
        problems.push(Problem { about, ..Problem::new(run, &directory.join(CASE_RECORD), message) });
    }
    FoundCase::Stored(Box::new(case))
}

/// Whether the case's lock is held. Process ids are reused, and mean nothing on another machine.
fn is_running(run: &Path, started: &Started) -> bool {
    let lock = PathBuf::from(&started.lock);
    !started.lock.is_empty() && FileLock::is_held(run, &lock).unwrap_or(false)
}
