//! Records in place of those that are missing.

use evalsuite::record::run_directory::CaseDirectoryName;
use evalsuite_schema::record::{
    CaseOutcome, CaseRecord, Reason, ReasonCode, Stage, Started, TrialRecord, TrialSummary,
};

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
    let mut case = CaseRecord::new();
    case.case_key.clone_from(&name.case_key);
    case.runner_attempt = name.attempt;
    match (ended.last(), open) {
        (Some(trial), _) => copy_identity(&trial.record, &mut case),
        (None, Some(started)) => {
            case.run_id.clone_from(&started.run_id);
            case.suite.clone_from(&started.suite);
            case.case_id.clone_from(&started.case_id);
            case.target.clone_from(&started.target);
        }
        (None, None) => return None,
    }
    case.outcome = CaseOutcome::Error;
    case.reason = Some(match open {
        Some(started) => died(format!("process {} did not end trial {}", started.pid, started.trial)),
        None => died("the case has no record, though its trials have".to_owned()),
    });
    for trial in ended {
        let mut summary = TrialSummary::default();
        summary.index = trial.record.trial;
        summary.outcome = trial.record.outcome;
        summary.score = trial.record.score;
        summary.duration_ms = trial.record.duration_ms;
        summary.cost_usd = trial.record.cost_usd;
        case.trials.push(summary);
        case.completed += u32::from(matches!(trial.record.outcome, CaseOutcome::Passed | CaseOutcome::Failed));
        case.passed += u32::from(trial.record.outcome == CaseOutcome::Passed);
        case.errors += u32::from(trial.record.outcome == CaseOutcome::Error);
    }
    Some(case)
}

fn copy_identity(trial: &TrialRecord, case: &mut CaseRecord) {
    case.run_id.clone_from(&trial.run_id);
    case.suite.clone_from(&trial.suite);
    case.suite_digest.clone_from(&trial.suite_digest);
    case.layout = trial.layout;
    case.kind = trial.kind;
    case.case_id.clone_from(&trial.case_id);
    case.case_digest.clone_from(&trial.case_digest);
    case.input_digest.clone_from(&trial.input_digest);
    case.grader_digest.clone_from(&trial.grader_digest);
    case.test_name.clone_from(&trial.test_name);
    case.target.clone_from(&trial.target);
    case.agent.clone_from(&trial.agent);
    case.location.clone_from(&trial.location);
    case.threshold = trial.threshold;
    case.planned = trial.trials_planned;
}

fn died(message: String) -> Reason {
    Reason::new(Stage::Agent, ReasonCode::ProcessDied, message)
}
