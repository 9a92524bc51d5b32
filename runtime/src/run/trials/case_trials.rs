//! The trials of a case that ran, what they cost, and what decides the case.

use evalsuite_records::record::{Reason, TrialRecord};

use crate::grade::scoring::{TrialPoint, is_completed};
use crate::record::statistics::Summary;

/// The trials of a case that ran; none of a case that must not run.
#[derive(Default)]
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
}

/// Why no further trial of a case runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum TrialsEnd {
    /// All trials ran, or further ones would not change the result.
    #[default]
    Decided,
    /// The cost of the trials reached a limit, maybe with the last of them.
    CostLimit,
    /// A trial could not start, and the case is not decided.
    Prevented(Reason),
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
