//! The trials of a case, one after another, until it is decided or must not go on.

use std::{io, thread};

use evalsuite_schema::record::{CaseOutcome, Mode, Reason, TrialRecord};

use crate::{
    grade::scoring::{TrialPoint, is_settled},
    platform::digest::file_key,
    record::coordination::{Ledger, Slot, Spend},
    run::{
        attempts::{self, Attempted},
        limits,
        plan::Plan,
        preparation::Preparation,
        trial::run_trial,
    },
};

/// What ended the trials of a case.
#[derive(Debug, Default, PartialEq)]
pub(crate) enum Cut {
    /// All were run, or nothing depended on them any more.
    #[default]
    None,
    /// The trials' cost reached the case's own limit, be it with the last of them.
    Cost,
    /// A limit of the suite or the run, while the case was still open.
    Prevented(Reason),
}

/// Runs trials until the case is decided.
///
/// # Errors
///
/// If something cannot be written.
pub(crate) fn run(
    plan: &Plan<'_>,
    preparation: &mut Preparation<'_>,
    trials: &mut Vec<TrialRecord>,
) -> io::Result<Cut> {
    let mut cost = 0.0;
    for index in 0..plan.planned {
        let attempted = attempts::run(plan.settings.retries, thread::sleep, |attempt| {
            let _slot = slot(plan)?;
            if let Some(reason) = limits::reached(plan, index, attempt)? {
                return Ok(Err(reason));
            }
            let ground = match preparation.ground()? {
                Ok(ground) => ground,
                Err(reason) => return Ok(Err(reason)),
            };
            let record = run_trial(plan, ground, index, attempt)?;
            note_cost(plan, &record)?;
            cost += record.cost_usd.unwrap_or(0.0);
            Ok(Ok(record))
        })?;
        let record = match attempted {
            Attempted::Ran(record) => *record,
            Attempted::Prevented(_) if is_settled(plan.rule, &points(trials)) => return Ok(Cut::Cost),
            Attempted::Prevented(reason) => return Ok(Cut::Prevented(reason)),
        };
        let skipped = record.outcome == CaseOutcome::Skipped;
        trials.push(record);
        let several = plan.planned > 1;
        if several && plan.case.trials.cost_limit_usd.is_some_and(|limit| cost >= limit) {
            return Ok(Cut::Cost);
        }
        if skipped || !plan.settings.run_all && is_settled(plan.rule, &points(trials)) {
            break;
        }
    }
    Ok(Cut::None)
}

/// What decides a case.
pub(crate) fn points(trials: &[TrialRecord]) -> Vec<TrialPoint> {
    trials.iter().map(|trial| TrialPoint { outcome: trial.outcome, score: trial.score }).collect()
}

fn slot(plan: &Plan<'_>) -> io::Result<Option<Slot>> {
    let workers = plan.settings.workers.or(plan.suite_data.workers);
    workers.map(|workers| Slot::take(&plan.run.locks(), &file_key(plan.suite.name), workers)).transpose()
}

/// What was only replayed has cost nothing; what is graded again, the judges.
fn note_cost(plan: &Plan<'_>, record: &TrialRecord) -> io::Result<()> {
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
