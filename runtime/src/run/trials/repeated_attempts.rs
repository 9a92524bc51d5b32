//! Attempts at one trial, which are repeated after infrastructure errors.

use std::io;
use std::time::Duration;

use evalsuite_records::record::{ReasonCode, Stage, Status, TrialRecord};

/// Longest pause before an attempt, without jitter.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Makes attempts, numbered from 0, until one has a result other than an infrastructure error, `retries` are used up, or the next
/// one does not start. Returns the record of the last one, and those of the attempts before it.
pub(crate) fn run_attempts(
    retries: u32,
    mut pause: impl FnMut(Duration),
    mut attempt: impl FnMut(u32) -> io::Result<Option<TrialRecord>>,
) -> io::Result<(TrialRecord, Vec<TrialRecord>)> {
    let mut records: Vec<TrialRecord> = Vec::new();
    for number in 0..=retries {
        if number > 0 {
            // 1, 2, 4 … 30 seconds, without jitter.
            let doubled = 1_u64.checked_shl(number - 1).unwrap_or(u64::MAX);
            pause(Duration::from_secs(doubled).min(LONGEST_PAUSE));
        }
        let Some(record) = attempt(number)? else { break };
        let again = is_worth_repeating(&record);
        records.push(record);
        if !again {
            break;
        }
    }
    let last = records.pop().ok_or_else(|| io::Error::other("no attempt was made"))?;
    Ok((last, records))
}

/// Infrastructure errors may be temporary. Errors in the setup are the same in every attempt, and a
/// grader that does not decide has not failed.
fn is_worth_repeating(record: &TrialRecord) -> bool {
    let Some(reason) = &record.reason else { return false };
    record.outcome == Status::Error
        && matches!(reason.stage, Stage::Workspace | Stage::Agent | Stage::User | Stage::Grading)
        && !matches!(
            reason.code,
            ReasonCode::TargetUnusable
                | ReasonCode::RecordingMissing
                | ReasonCode::RecordingStale
                | ReasonCode::Required
                | ReasonCode::Unsupported
                | ReasonCode::RequiredGraderUndecided
                | ReasonCode::NothingDecided
                | ReasonCode::NotSealed
                | ReasonCode::SawAnswers
                | ReasonCode::UserLeftRole
        )
}

#[cfg(test)]
mod tests {
    use evalsuite_records::record::Reason;

    use super::*;

    fn ended(outcome: Status) -> TrialRecord {
        let mut record = TrialRecord::new();
        record.outcome = outcome;
        record
    }

    fn error(stage: Stage, code: ReasonCode) -> TrialRecord {
        let mut record = ended(Status::Error);
        record.reason = Some(Reason::new(stage, code, "x"));
        record
    }

    fn agent_error() -> TrialRecord {
        error(Stage::Agent, ReasonCode::AgentError)
    }

    fn pauses(retries: u32, mut attempt: impl FnMut(u32) -> Option<TrialRecord>) -> (Vec<u64>, TrialRecord) {
        let mut pauses = Vec::new();
        let (record, before) =
            run_attempts(retries, |pause| pauses.push(pause.as_secs()), |number| Ok(attempt(number))).unwrap();
        assert!(before.iter().all(|record| record.outcome == Status::Error), "only errors are repeated");
        (pauses, record)
    }

    #[test]
    fn pauses_double_up_to_half_a_minute() {
        let (pauses, record) = pauses(7, |number| {
            let mut record = agent_error();
            record.attempt = number;
            Some(record)
        });
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(record.attempt, 7);
    }

    #[test]
    fn only_infrastructure_errors_are_repeated() {
        let times = |record: TrialRecord| pauses(3, |_| Some(record.clone())).0.len();
        assert_eq!(times(agent_error()), 3);
        assert_eq!(times(error(Stage::Grading, ReasonCode::GraderError)), 3);
        assert_eq!(times(error(Stage::Workspace, ReasonCode::RepoError)), 3);
        assert_eq!(times(error(Stage::Setup, ReasonCode::VariableUnset)), 0);
        assert_eq!(times(error(Stage::Agent, ReasonCode::TargetUnusable)), 0);
        assert_eq!(times(error(Stage::Grading, ReasonCode::NothingDecided)), 0);
        assert_eq!(times(ended(Status::Failed)), 0);
        assert_eq!(times(ended(Status::Passed)), 0);
    }

    #[test]
    fn the_first_attempt_with_a_result_is_the_last_one() {
        let (pauses, record) = pauses(5, |number| Some(if number < 2 { agent_error() } else { ended(Status::Failed) }));
        assert_eq!(pauses, [1, 2]);
        assert_eq!(record.outcome, Status::Failed);
    }

    #[test]
    fn an_attempt_that_does_not_start_does_not_discard_the_record_of_the_one_before() {
        let (pauses, record) = pauses(3, |number| (number == 0).then(agent_error));
        assert_eq!(pauses, [1]);
        assert_eq!(record, agent_error());
        assert!(run_attempts(3, |_| (), |_| Ok(None)).is_err());
    }
}
