//! The trials of a case, until the case is decided or a limit is reached.

pub(crate) mod counted_trials;
pub(crate) mod running_trials;

use std::{io, panic, thread};

use evalsuite_records::record::{Mode, Reason, ReasonCode, Stage, Status, TrialRecord};

use self::counted_trials::{CaseTrials, EndedTrial, StopRule, TrialsEnd, results};
use self::running_trials::RunningTrials;
use crate::grade::scoring::is_settled;
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
        // Only the trials that an earlier run has can be graded again.
        planned: plan.earlier_trials().map_or(plan.planned, |earlier| earlier.trials.clamp(1, plan.planned)),
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
    let mut trials = trials.into_case_trials();
    if let (TrialsEnd::Decided, Some(missing)) = (&trials.end, missing_trials(plan, &trials.counted)) {
        trials.end = TrialsEnd::Prevented(missing);
    }
    Ok(trials)
}

/// Why a case that is graded again is not decided: fewer trials ran than were planned, and those that did do not decide it as they are graded
/// now.
fn missing_trials(plan: &Plan<'_>, counted: &[TrialRecord]) -> Option<Reason> {
    let earlier = plan.earlier_trials()?;
    let is_ended = counted.len() < earlier.trials as usize || earlier.trials >= plan.planned;
    let is_skipped = counted.last().is_some_and(|trial| trial.outcome == Status::Skipped);
    if is_ended || is_skipped || is_settled(plan.standard, &results(counted)) {
        return None;
    }
    let missing: Vec<String> = (earlier.trials + 1..=plan.planned).map(|number| number.to_string()).collect();
    let trials = if missing.len() == 1 { "trial" } else { "trials" };
    let message = format!(
        "{trials} {} of {} did not run in run {}, and the others do not decide the case as they are graded now; to run all: `{}`",
        missing.join(", "),
        plan.planned,
        earlier.run_id,
        plan.rerun()
    );
    Some(Reason::new(Stage::Setup, ReasonCode::RecordingMissing, message))
}
