//! The trials of a case, one after another, until the case is decided or a limit is reached.

use std::{io, thread};

use evalsuite_schema::record::{CaseOutcome, Mode, Reason, TrialRecord};

use crate::grade::scoring::{TrialPoint, is_settled};
use crate::platform::digest::file_key;
use crate::platform::jitter::with_jitter;
use crate::record::coordination::{Ledger, Slot, Spend};
use crate::run::attempts::{Attempted, run_attempts};
use crate::run::case_setup::CaseSetup;
use crate::run::limits;
use crate::run::plan::Plan;
use crate::run::trial::run_trial;

/// Why no further trial of a case runs.
#[derive(Debug, PartialEq)]
pub(crate) enum TrialsEnd {
    /// All trials ran, or further ones would not change the result.
    Decided,
    /// The cost of the trials reached a limit, maybe with the last of them.
    CostLimit,
    /// A trial could not start, and the case is not decided.
    Prevented(Reason),
}

/// Runs trials until the case is decided or a limit is reached.
///
/// # Errors
///
/// If a record or a file that the tests of the run share cannot be written.
pub(crate) fn run_trials(plan: &Plan<'_>, setup: &mut CaseSetup<'_>) -> io::Result<(Vec<TrialRecord>, TrialsEnd)> {
    let mut trials = Vec::new();
    let mut cost = 0.0;
    for index in 0..plan.planned {
        let attempted = run_attempts(
            plan.settings.retries,
            |pause| thread::sleep(with_jitter(pause)),
            |attempt| {
                let _slot = slot(plan)?;
                if let Some(reason) = limits::reached(plan, index, attempt)? {
                    return Ok(Err(reason));
                }
                let base = match setup.base()? {
                    Ok(base) => base,
                    Err(reason) => return Ok(Err(reason)),
                };
                let record = run_trial(plan, base, index, attempt)?;
                add_to_ledger(plan, &record)?;
                cost += record.cost_usd.unwrap_or(0.0);
                Ok(Ok(record))
            },
        )?;
        let record = match attempted {
            Attempted::Ran(record) => *record,
            Attempted::Prevented(_) if is_settled(plan.rule, &results(&trials)) => {
                return Ok((trials, TrialsEnd::CostLimit));
            }
            Attempted::Prevented(reason) => return Ok((trials, TrialsEnd::Prevented(reason))),
        };
        let skipped = record.outcome == CaseOutcome::Skipped;
        trials.push(record);
        let several = plan.planned > 1;
        if several && plan.case.trials.cost_limit_usd.is_some_and(|limit| cost >= limit) {
            return Ok((trials, TrialsEnd::CostLimit));
        }
        if skipped || !plan.settings.run_all && is_settled(plan.rule, &results(&trials)) {
            break;
        }
    }
    Ok((trials, TrialsEnd::Decided))
}

/// Outcomes and scores of trials, which decide the case.
pub(crate) fn results(trials: &[TrialRecord]) -> Vec<TrialPoint> {
    trials.iter().map(|trial| TrialPoint { outcome: trial.outcome, score: trial.score }).collect()
}

fn slot(plan: &Plan<'_>) -> io::Result<Option<Slot>> {
    let workers = plan.settings.workers.or(plan.suite_data.workers);
    workers.map(|workers| Slot::take(&plan.run.locks(), &file_key(plan.suite.name), workers)).transpose()
}

/// Adds the cost of a trial to what the run has spent. A replay costs nothing; to grade a trial again costs its judges.
fn add_to_ledger(plan: &Plan<'_>, record: &TrialRecord) -> io::Result<()> {
    if record.mode == Mode::Replay {
        return Ok(());
    }
    Ledger::of(plan.run.path(), &plan.run.locks()).append(&Spend {
        suite: plan.suite.name.to_owned(),
        case_key: plan.case_key.clone(),
        trial: record.trial,
        attempt: record.attempt,
        runner_attempt: record.runner_attempt,
        cost_usd: record.cost_usd.filter(|_| record.mode != Mode::Regrade),
        judge_cost_usd: record.judge_cost_usd,
    })
}
