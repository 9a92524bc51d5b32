//! The trials of a case, until the case is decided or a limit is reached.

pub(crate) mod counted_trials;
pub(crate) mod running_trials;

use std::{io, panic, thread};

use evalsuite_records::record::Mode;

use self::counted_trials::{CaseTrials, EndedTrial, StopRule};
use self::running_trials::RunningTrials;
use crate::run::case_setup::CaseSetup;
use crate::run::plan::Plan;

/// Runs trials until the case is decided or a limit is reached. `kept`: its first trials, which the run already has.
pub(crate) fn run_trials<'a>(
    plan: &'a Plan<'a>,
    setup: &mut CaseSetup<'a>,
    kept: Vec<EndedTrial>,
) -> io::Result<CaseTrials> {
    // One after another run trials that share a workspace, and trials that are recorded: a recording of a trial that does not count would
    // stay in the sources.
    let is_one_by_one = setup.is_shared() || plan.settings.mode == Mode::Record || plan.settings.model_calls.is_some();
    let parallel = if is_one_by_one { 1 } else { plan.workers().unwrap_or(1).min(plan.planned) };
    let stop = StopRule {
        standard: plan.standard,
        planned: plan.planned,
        run_all: plan.runs_all_trials(),
        ends_with_error: false,
        cost_limit_usd: plan.case.trials.cost_limit_usd,
    };
    let trials = RunningTrials::new(plan, setup, stop, 0).after(kept);
    let name = thread::current().name().unwrap_or("evalsuite").to_owned();
    thread::scope(|scope| {
        let more = (1..parallel).map_while(|_| {
            // Fewer threads are only slower.
            thread::Builder::new().name(name.clone()).spawn_scoped(scope, || trials.work()).ok()
        });
        let more: Vec<_> = more.collect();
        let mut result = trials.work();
        for thread in more {
            result = result.and(thread.join().unwrap_or_else(|payload| panic::resume_unwind(payload)));
        }
        result
    })?;
    Ok(trials.into_case_trials())
}
