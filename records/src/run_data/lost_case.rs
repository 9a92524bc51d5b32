//! Substitutes for missing records.

use std::path::PathBuf;

use super::{CaseData, TrialData};
use crate::digest::case_key;
use crate::record::{
    CaseRecord, Reason, ReasonCode, Stage, Started, Status, SuiteRecord, SuiteTest, TrialRecord, TrialSummary,
};
use crate::run_directory::{CaseDirectoryName, TRIAL_RECORD};

/// A trial of a case without a record: it has a record of its own, or has at least started.
pub(super) struct LostTrial {
    pub(super) directory: PathBuf,
    pub(super) record: Option<TrialRecord>,
    pub(super) started: Option<Started>,
}

impl LostTrial {
    /// Index of the trial.
    pub(super) fn index(&self) -> Option<u32> {
        let of_record = self.record.as_ref().map(|record| record.trial);
        of_record.or(self.started.as_ref().map(|started| started.trial))
    }
}

/// The record of a trial whose own is missing or torn, from the record of its case.
pub(super) fn trial_without_record(case: &CaseRecord, summary: &TrialSummary) -> TrialRecord {
    let mut record = TrialRecord::of_case(case);
    record.trial = summary.index;
    record.outcome = summary.outcome;
    record.score = summary.score;
    record.duration_ms = summary.duration_ms;
    record.cost_usd = summary.cost_usd;
    record.reason = Some(died(format!("the record of trial {} is missing or torn", summary.index)));
    record
}

/// A case without a record, or with one that cannot be read: it is an error, and so are its trials that did not end.
pub(super) fn lost_case(
    name: CaseDirectoryName,
    directory: PathBuf,
    is_unreadable: bool,
    started: Option<&Started>,
    trials: Vec<LostTrial>,
    suite: Option<&SuiteRecord>,
) -> CaseData {
    let ended = trials.iter().rev().find_map(|trial| trial.record.as_ref());
    let mut record = ended.map_or_else(CaseRecord::new, CaseRecord::of_trial);
    if let Some(started) = started {
        record.run_id.clone_from(&started.run_id);
        record.suite.clone_from(&started.suite);
        record.case_id.clone_from(&started.case_id);
        record.target.clone_from(&started.target);
        // Records of earlier versions say neither.
        if !started.test_name.is_empty() {
            record.test_name.clone_from(&started.test_name);
        }
        record.program.clone_from(&started.program);
        record.module.clone_from(&started.module);
        if !started.input_digest.is_empty() {
            record.case_digest.clone_from(&started.case_digest);
            record.input_digest.clone_from(&started.input_digest);
            record.grader_digest.clone_from(&started.grader_digest);
            record.location = started.location.clone();
        }
    }
    record.case_key.clone_from(&name.case_key);
    record.runner_attempt = name.attempt;
    if let Some(suite) = suite {
        add_test(&mut record, suite);
    }
    if record.case_id.is_empty() {
        record.case_id = record.case_key.clone();
    }
    let open = trials.iter().filter(|trial| trial.record.is_none()).find_map(|trial| trial.started.as_ref());
    let after = |started: &Started| format!("process {} died after trial {}", started.pid, started.trial);
    let message = open.map(died_in).or_else(|| started.filter(|_| !is_unreadable).map(after));
    record.outcome = Status::Error;
    record.reason = Some(died(message.unwrap_or_else(|| "the case has no record that can be read".to_owned())));
    let trials: Vec<TrialData> = trials.into_iter().map(|trial| stored_trial(trial, &record)).collect();
    for trial in &trials {
        // Its path is relative to the case, the directory to the run.
        let directory = trial.directory.file_name().unwrap_or_default().to_string_lossy();
        record.trials.push(TrialSummary::new(&trial.record, format!("{directory}/{TRIAL_RECORD}")));
        record.completed += u32::from(matches!(trial.record.outcome, Status::Passed | Status::Failed));
        record.passed += u32::from(trial.record.outcome == Status::Passed);
        record.errors += u32::from(trial.record.outcome == Status::Error);
    }
    record.planned = record.planned.max(record.completed + record.errors);
    CaseData { name, directory, record, trials, earlier: Vec::new(), of_runs: Vec::new() }
}

fn stored_trial(trial: LostTrial, case: &CaseRecord) -> TrialData {
    let LostTrial { directory, record, started } = trial;
    let record = record.unwrap_or_else(|| {
        let mut record = TrialRecord::of_case(case);
        record.outcome = Status::Error;
        if let Some(started) = started {
            record.trial = started.trial;
            record.reason = Some(died(died_in(&started)));
            record.started_at = started.started_at;
        }
        record
    });
    TrialData { directory, record }
}

fn died_in(started: &Started) -> String {
    format!("process {} died in trial {}", started.pid, started.trial)
}

/// Adds what the suite says about the case. Records of earlier versions say less of what started.
fn add_test(record: &mut CaseRecord, suite: &SuiteRecord) {
    if record.suite.is_empty() {
        record.suite.clone_from(&suite.name);
    }
    let target = |test: &SuiteTest| test.target.clone().unwrap_or_else(|| "default".to_owned());
    let is_meant = |test: &&SuiteTest| match record.case_id.as_str() {
        // The name of its directory has a digest of what it is.
        "" => case_key(&record.suite, &target(test), &test.case_id) == record.case_key,
        id => test.case_id == id && test.target.as_ref().is_none_or(|target| *target == record.target),
    };
    let is_known = !record.test_name.is_empty();
    if let Some(test) = suite.tests.iter().filter(|_| !is_known).find(is_meant) {
        record.test_name.clone_from(&test.test_name);
        record.module.clone_from(&test.module);
        if record.case_id.is_empty() {
            (record.case_id, record.target) = (test.case_id.clone(), target(test));
        }
    }
}

fn died(message: String) -> Reason {
    Reason::new(Stage::Agent, ReasonCode::ProcessDied, message)
}
