//! Records in place of those that are missing.

use evalsuite::record::run_directory::{CaseDirectoryName, TRIAL_RECORD};
use evalsuite_schema::record::{CaseRecord, Reason, ReasonCode, Stage, Started, Status, TrialRecord, TrialSummary};

use super::TrialData;

/// The record of a trial whose own is missing or torn, from the record of its case.
pub(super) fn trial_without_record(case: &CaseRecord, summary: &TrialSummary) -> TrialRecord {
    let mut record = TrialRecord::of_case(case.clone());
    record.trial = summary.index;
    record.trials_planned = case.planned;
    record.outcome = summary.outcome;
    record.score = summary.score;
    record.duration_ms = summary.duration_ms;
    record.cost_usd = summary.cost_usd;
    record.reason = Some(died(format!("the record of trial {} is missing or torn", summary.index)));
    record
}

/// The record of a case without one; `None` if no trial has started.
pub(super) fn case_without_record(
    name: &CaseDirectoryName,
    ended: &[TrialData],
    open: Option<&Started>,
) -> Option<CaseRecord> {
    let mut case = match (ended.last(), open) {
        (Some(trial), _) => CaseRecord::of_trial(trial.record.clone()),
        (None, Some(started)) => {
            let mut case = CaseRecord::new();
            case.run_id.clone_from(&started.run_id);
            case.suite.clone_from(&started.suite);
            case.case_id.clone_from(&started.case_id);
            case.target.clone_from(&started.target);
            case.test_name.clone_from(&started.test_name);
            case.module.clone_from(&started.module);
            case
        }
        (None, None) => return None,
    };
    case.case_key.clone_from(&name.case_key);
    case.runner_attempt = name.attempt;
    case.outcome = Status::Error;
    case.reason = Some(match open {
        Some(started) => died(format!("process {} did not end trial {}", started.pid, started.trial)),
        None => died("the case has no record, though its trials have".to_owned()),
    });
    for trial in ended {
        // Its path is relative to the case, the directory to the run.
        let directory = trial.directory.file_name().unwrap_or_default().to_string_lossy();
        case.trials.push(TrialSummary::new(&trial.record, format!("{directory}/{TRIAL_RECORD}")));
        case.completed += u32::from(matches!(trial.record.outcome, Status::Passed | Status::Failed));
        case.passed += u32::from(trial.record.outcome == Status::Passed);
        case.errors += u32::from(trial.record.outcome == Status::Error);
    }
    Some(case)
}

fn died(message: String) -> Reason {
    Reason::new(Stage::Agent, ReasonCode::ProcessDied, message)
}
