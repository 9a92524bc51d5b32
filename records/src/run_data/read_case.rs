//! Reads one attempt at a case.

use std::path::Path;

use serde::de::DeserializeOwned;

use super::lost_case::{LostTrial, lost_case, trial_without_record};
use super::read_suite::read_record;
use super::{Affected, CaseData, Problem, ReadDepth, TrialData};
use crate::file_lock::FileLock;
use crate::record::{CaseRecord, Started, SuiteRecord, TrialRecord, TrialSummary};
use crate::run_directory::{CASE_RECORD, CaseDirectoryName, TRIAL_RECORD, TRIAL_STARTED};
use crate::untrusted::UntrustedDirectory;

/// Reads the cases of a suite of a run.
pub(super) struct CaseReader<'a> {
    pub(super) run: &'a Path,
    pub(super) depth: ReadDepth,
    pub(super) suite: Option<&'a SuiteRecord>,
    pub(super) problems: &'a mut Vec<Problem>,
    /// The cases whose tests are running.
    pub(super) running: Vec<Started>,
}

impl CaseReader<'_> {
    /// Reads the directory of a case, which is relative to the run. `None` if its test is running, or no trial has started.
    pub(super) fn read(&mut self, directory: &Path) -> Option<CaseData> {
        let name = CaseDirectoryName::parse(&directory.file_name().unwrap_or_default().to_string_lossy());
        let known = self.problems.len();
        let Some(record) = self.record::<CaseRecord>(&directory.join(CASE_RECORD)) else {
            let is_unreadable = self.problems.len() > known;
            return self.without_record(directory, name, is_unreadable);
        };
        let read = if self.depth == ReadDepth::Trials { &record.trials[..] } else { &[] };
        let trials = read.iter().map(|trial| self.trial(directory, &record, trial)).collect();
        let directory = directory.to_owned();
        Some(CaseData { name, directory, record, trials, earlier: Vec::new(), of_runs: Vec::new() })
    }

    fn record<T: DeserializeOwned>(&mut self, file: &Path) -> Option<T> {
        read_record(self.run, file, self.problems)
    }

    fn trial(&mut self, case: &Path, record: &CaseRecord, summary: &TrialSummary) -> TrialData {
        let file = case.join(&summary.path);
        let known = self.problems.len();
        let directory = file.parent().unwrap_or(case).to_owned();
        if let Some(record) = self.record(&file) {
            return TrialData { directory, record };
        }
        if self.problems.len() == known {
            self.problems.push(Problem::new(self.run, &file, "is missing"));
        }
        TrialData { directory, record: trial_without_record(record, summary) }
    }

    /// A case whose process died or is still running, or whose record cannot be read: what its trials tell of it.
    fn without_record(&mut self, case: &Path, name: CaseDirectoryName, is_unreadable: bool) -> Option<CaseData> {
        let names = UntrustedDirectory::new(self.run).join(case).subdirectories();
        let names = Problem::add_of(names, self.run, case, self.problems);
        let mut started: Option<Started> = None;
        let mut trials: Vec<LostTrial> = Vec::new();
        for directory in names.into_iter().map(|name| case.join(name)) {
            let own: Option<Started> = self.record(&directory.join(TRIAL_STARTED));
            let record: Option<TrialRecord> = self.record(&directory.join(TRIAL_RECORD));
            started = own.clone().or(started);
            if record.is_some() || own.is_some() {
                trials.push(LostTrial { directory, record, started: own });
            }
        }
        if trials.is_empty() && !is_unreadable {
            return None;
        }
        let file = case.join(CASE_RECORD);
        if let Some(started) = started.as_ref().filter(|started| is_running(self.run, started)) {
            let about = Affected::Running(started.case_id.clone(), started.target.clone());
            let message = format!("is still running in process {}", started.pid);
            self.problems.push(Problem { about, ..Problem::new(self.run, &file, message) });
            self.running.push(started.clone());
            return None;
        }
        // Of several attempts at a trial, the last one counts; directories are sorted by trial and attempt.
        trials.reverse();
        trials.dedup_by_key(|trial| trial.index());
        trials.reverse();
        let case = lost_case(name, case.to_owned(), is_unreadable, started.as_ref(), trials, self.suite);
        if !is_unreadable {
            let about = Affected::Died(case.record.case_id.clone(), case.record.target.clone());
            let message = case.record.reason.as_ref().map(|reason| reason.message.clone()).unwrap_or_default();
            self.problems.push(Problem { about, ..Problem::new(self.run, &file, message) });
        }
        Some(case)
    }
}

/// Whether the case's lock is held. Process ids are reused, and mean nothing on another machine.
fn is_running(run: &Path, started: &Started) -> bool {
    !started.lock.is_empty() && FileLock::is_held(run, Path::new(&started.lock)).unwrap_or(false)
}
