//! What the trials of a case say about it, and what of that can be compared.

use evalsuite_records::record::{CaseRecord, OutcomeCounts, Rule, Status};
use evalsuite_statistics::{CaseTrials, End, Series};

use super::standard::Standard;
use crate::run_data::{CaseData, count_outcomes};

/// The planned trials of a case in one run, or in several that are counted together, and their scores, by run, that are a fair sample of what
/// the agent does: only the first one of each run, unless the number of trials is known before. Correlated trials are one. `rule` is that of
/// the case; `stops_early`: whether trials end as soon as they decide the case. How many there are then depends on how they ended, and of such numbers only the first
/// trial's score has the right mean.
pub(super) fn observed(
    case: &CaseData,
    standard: &dyn Standard,
    rule: Rule,
    stops_early: bool,
) -> (Series, Vec<Vec<f64>>) {
    let of_runs = records(case)
        .iter()
        .map(|record| observed_once(&record.with_independent_trials(), standard, rule, stops_early));
    let (series, scores): (Vec<Series>, Vec<Vec<f64>>) = of_runs.unzip();
    (Series::of_runs(&series), scores)
}

/// The record of a case in each run that is counted.
pub(super) fn records(case: &CaseData) -> &[CaseRecord] {
    if case.of_runs.is_empty() { std::slice::from_ref(&case.record) } else { &case.of_runs }
}

fn observed_once(record: &CaseRecord, standard: &dyn Standard, rule: Rule, stops_early: bool) -> (Series, Vec<f64>) {
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
pub(super) fn case_trials(base: Series, run: Series, case: &CaseData) -> CaseTrials {
    let mut trials = CaseTrials { base, run, confirmed: 0, confirmed_better: 0, refuted: false };
    for record in records(case) {
        let outcomes: Vec<Status> = record.confirming.iter().map(|trial| trial.outcome).collect();
        let is_repeated_as_failed = record.outcome != Status::Passed;
        let (wanted, other) =
            if is_repeated_as_failed { (Status::Failed, Status::Passed) } else { (Status::Passed, Status::Failed) };
        let leading = outcomes.iter().take_while(|outcome| **outcome == wanted).count();
        let leading = u32::try_from(leading).unwrap_or(u32::MAX);
        if is_repeated_as_failed {
            trials.confirmed += leading
        } else {
            trials.confirmed_better += leading
        }
        trials.refuted |= outcomes.contains(&other);
    }
    trials
}
