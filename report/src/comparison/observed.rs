//! What the trials of a case say about it, and what of that can be compared.

use evalsuite_records::record::{CaseRecord, OutcomeCounts, Rule, Status};

use super::case_change::Standard;
use crate::run_data::count_outcomes;
use crate::statistics::{CaseTrials, End, Series};

/// The planned trials of a case in one run, and their scores that are a fair sample of what the agent does: only the first one, unless
/// the number of trials is known before. `rule` is that of the case; `stops_early`: whether trials end as soon as they decide the case.
/// How many there are then depends on how they ended, and of such numbers only the first trial's score has the right mean.
pub(super) fn observed(record: &CaseRecord, standard: Standard, rule: Rule, stops_early: bool) -> (Series, Vec<f64>) {
    let completed = || record.trials.iter().filter(|trial| matches!(trial.outcome, Status::Passed | Status::Failed));
    let mut scores: Vec<f64> = completed().filter_map(|trial| trial.score).map(|score| standard.score(score)).collect();
    let OutcomeCounts { passed, failed, .. } = count_outcomes(completed().map(|trial| trial.outcome));
    let end = match rule {
        Rule::Any if stops_early && passed <= 1 => End::Pass,
        Rule::Every if stops_early && failed <= 1 => End::Failure,
        _ => End::Planned,
    };
    if end != End::Planned {
        scores.truncate(1);
    }
    (Series { passed, failed, end }, scores)
}

/// The trials of a case in both runs, with those that repeated it in the second one.
pub(super) fn case_trials(base: Series, run: Series, record: &CaseRecord) -> CaseTrials {
    let outcomes: Vec<Status> = record.confirming.iter().map(|trial| trial.outcome).collect();
    let is_repeated_as_failed = record.outcome != Status::Passed;
    let (wanted, other) =
        if is_repeated_as_failed { (Status::Failed, Status::Passed) } else { (Status::Passed, Status::Failed) };
    let leading = outcomes.iter().take_while(|outcome| **outcome == wanted).count();
    let leading = u32::try_from(leading).unwrap_or(u32::MAX);
    CaseTrials {
        base,
        run,
        confirmed: if is_repeated_as_failed { leading } else { 0 },
        confirmed_better: if is_repeated_as_failed { 0 } else { leading },
        refuted: outcomes.contains(&other),
    }
}
