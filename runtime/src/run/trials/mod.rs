//! The trials of a case, until the case is decided or a limit is reached.

pub(crate) mod confirming;
pub(crate) mod counted_trials;
pub(crate) mod running_trials;

use std::{io, panic, thread};

use evalsuite_records::record::{Mode, Reason, TrialRecord};

use self::counted_trials::StopRule;
use self::running_trials::RunningTrials;
use crate::grade::scoring::{TrialPoint, is_completed};
use crate::record::statistics::Summary;
use crate::run::case_setup::CaseSetup;
use crate::run::plan::Plan;

/// The trials of a case that ran.
pub(crate) struct CaseTrials {
    /// The trials that count, in order.
    pub(crate) counted: Vec<TrialRecord>,
    /// Trials that ran at the same time as the one that ended the case. They count in nothing but cost.
    pub(crate) surplus: Vec<TrialRecord>,
    /// Trials that repeat the case because it differs from its baseline. They count in nothing but cost, and in what the baseline says.
    pub(crate) confirming: Vec<TrialRecord>,
    pub(crate) end: TrialsEnd,
}

impl CaseTrials {
    /// Trials that count in nothing but cost.
    pub(crate) fn uncounted(&self) -> impl Iterator<Item = &TrialRecord> {
        self.surplus.iter().chain(&self.confirming)
    }

    /// Of a case that must not run.
    pub(crate) fn none() -> Self {
        Self { counted: Vec::new(), surplus: Vec::new(), confirming: Vec::new(), end: TrialsEnd::Decided }
    }
}

/// Why no further trial of a case runs.
#[derive(Debug, Clone, PartialEq)]
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
pub(crate) fn run_trials<'a>(plan: &'a Plan<'a>, setup: &mut CaseSetup<'a>) -> io::Result<CaseTrials> {
    let parallel = most_in_parallel(plan, setup);
    let stop = StopRule {
        standard: plan.standard(),
        planned: plan.planned,
        run_all: plan.settings.run_all,
        ends_with_error: false,
        cost_limit_usd: plan.case.trials.cost_limit_usd,
    };
    let trials = RunningTrials::new(plan, setup, stop, 0);
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

/// How many trials of the case may run at the same time. One after another run trials that share a workspace, and trials that
/// are recorded: a recording of a trial that does not count would stay in the sources.
fn most_in_parallel(plan: &Plan<'_>, setup: &CaseSetup<'_>) -> u32 {
    if setup.is_shared() || plan.settings.mode == Mode::Record {
        return 1;
    }
    plan.workers().unwrap_or(1).min(plan.planned)
}

/// Outcomes and scores of trials, which decide the case.
pub(crate) fn results<'t>(trials: impl IntoIterator<Item = &'t TrialRecord>) -> Vec<TrialPoint> {
    trials.into_iter().map(|trial| TrialPoint { outcome: trial.outcome, score: trial.score }).collect()
}

/// Cost of trials in US dollars, of the agent and of judges; `None` if none was reported.
pub(crate) fn cost<'t>(trials: impl IntoIterator<Item = &'t TrialRecord>) -> Option<f64> {
    trials.into_iter().flat_map(|trial| [trial.cost_usd, trial.judge_cost_usd]).flatten().reduce(|sum, cost| sum + cost)
}

/// Mean score of the trials that passed or failed.
pub(crate) fn mean_score(results: &[TrialPoint]) -> Option<f64> {
    let completed = results.iter().filter(|point| is_completed(point.outcome));
    let scores: Vec<f64> = completed.filter_map(|point| point.score).collect();
    Summary::of(&scores).map(|summary| summary.mean)
}
