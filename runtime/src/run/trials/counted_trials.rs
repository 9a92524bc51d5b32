//! The trials of a case, and which of them count: those that would have run one after another, regardless of the order in which they end.

use std::collections::BTreeMap;

use evalsuite_records::record::{Reason, Status, TrialRecord};
use evalsuite_schema::decimal::at_least;

use crate::grade::scoring::{CaseStandard, TrialPoint, is_completed, is_settled};
use crate::record::trial_statistics::Summary;

/// The trials of a case that ran; none of a case that must not run.
#[derive(Default)]
pub(crate) struct CaseTrials {
    /// The trials that count, in order.
    pub(crate) counted: Vec<TrialRecord>,
    /// Trials that ran at the same time as the one that ended the case. They count in nothing but cost.
    pub(crate) surplus: Vec<TrialRecord>,
    /// Trials that repeat the case because it differs from its baseline. They count in nothing but cost, and in what the baseline says.
    pub(crate) confirming: Vec<TrialRecord>,
    /// Attempts that were followed by another one. They count in nothing but cost.
    pub(crate) retried: Vec<TrialRecord>,
    pub(crate) end: TrialsEnd,
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

/// Cost of trials in US dollars, of the agent, of judges and of simulated users; `None` if none was reported.
pub(crate) fn cost<'t>(trials: impl IntoIterator<Item = &'t TrialRecord>) -> Option<f64> {
    let of_trial = |trial: &'t TrialRecord| [trial.cost_usd, trial.judge_cost_usd, trial.user_cost_usd];
    trials.into_iter().flat_map(of_trial).flatten().reduce(|sum, cost| sum + cost)
}

/// Whether the cost of some trials, or attempts that were repeated, is not known, of the agent, of a judge or of a simulated user. An attempt
/// often ends before its agent is called.
pub(crate) fn is_cost_partial<'t>(
    trials: impl IntoIterator<Item = &'t TrialRecord>,
    retried: impl IntoIterator<Item = &'t TrialRecord>,
) -> bool {
    let lacks_cost = |trial: &TrialRecord| !trial.unknown_costs().is_none();
    trials.into_iter().any(|trial| trial.cost_usd.is_none() || lacks_cost(trial)) || retried.into_iter().any(lacks_cost)
}

/// Mean score of the trials that passed or failed.
pub(crate) fn mean_score(results: &[TrialPoint]) -> Option<f64> {
    let completed = results.iter().filter(|point| is_completed(point.outcome));
    let scores: Vec<f64> = completed.filter_map(|point| point.score).collect();
    Summary::of(&scores).map(|summary| summary.mean)
}

/// When trials stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StopRule {
    pub(crate) standard: CaseStandard,
    /// Number of trials planned.
    pub(crate) planned: u32,
    /// Whether trials run that cannot change the result.
    pub(crate) run_all: bool,
    /// Whether no further trial runs after one that ended in an error.
    pub(crate) ends_with_error: bool,
    /// What all trials may cost in US dollars.
    pub(crate) cost_limit_usd: Option<f64>,
}

/// A trial that has ended.
#[derive(Debug)]
pub(crate) struct EndedTrial {
    pub(crate) record: TrialRecord,
    /// The attempts before it.
    pub(crate) retried: Vec<TrialRecord>,
}

/// The trials of a case that have ended. They count in the order of their indices.
#[derive(Debug)]
pub(crate) struct CountedTrials {
    stop: StopRule,
    counted: Vec<TrialRecord>,
    /// Cost of all attempts at these.
    cost_usd: f64,
    retried: Vec<TrialRecord>,
    /// Trials that have ended, or could not start, and do not count yet.
    waiting: BTreeMap<u32, Result<EndedTrial, Reason>>,
    end: Option<TrialsEnd>,
}

impl CountedTrials {
    pub(crate) fn new(stop: StopRule) -> Self {
        Self { stop, counted: Vec::new(), cost_usd: 0.0, retried: Vec::new(), waiting: BTreeMap::new(), end: None }
    }

    /// Index of the next trial that counts.
    pub(crate) fn next(&self) -> u32 {
        u32::try_from(self.counted.len()).unwrap_or(u32::MAX)
    }

    /// Whether it is known which trials count.
    pub(crate) fn is_over(&self) -> bool {
        self.end.is_some()
    }

    /// Adds a trial that has ended, or why it could not start.
    pub(crate) fn add(&mut self, index: u32, trial: Result<EndedTrial, Reason>) {
        self.waiting.insert(index, trial);
    }

    /// Counts the next trial, if it has ended; returns whether there may be more to count.
    pub(crate) fn count_next(&mut self) -> bool {
        if self.is_over() {
            return false;
        }
        match self.waiting.remove(&self.next()) {
            None => return false,
            Some(Err(reason)) => self.prevent_next(reason),
            Some(Ok(trial)) => self.count(trial),
        }
        !self.is_over()
    }

    /// Ends the case before the next trial.
    pub(crate) fn prevent_next(&mut self, reason: Reason) {
        let is_settled = is_settled(self.stop.standard, &results(&self.counted));
        self.end = Some(if is_settled { TrialsEnd::CostLimit } else { TrialsEnd::Prevented(reason) });
    }

    fn count(&mut self, EndedTrial { record, mut retried }: EndedTrial) {
        let StopRule { standard, planned, run_all, ends_with_error, cost_limit_usd } = self.stop;
        let is_end = record.outcome == Status::Skipped || ends_with_error && record.outcome == Status::Error;
        self.cost_usd += cost(retried.iter().chain([&record])).unwrap_or(0.0);
        self.counted.push(record);
        self.retried.append(&mut retried);
        let is_last = self.next() >= planned;
        if planned > 1 && cost_limit_usd.is_some_and(|limit| at_least(self.cost_usd, limit)) {
            self.end = Some(TrialsEnd::CostLimit);
        } else if is_last || is_end || !run_all && is_settled(standard, &results(&self.counted)) {
            self.end = Some(TrialsEnd::Decided);
        }
    }

    /// All trials that have ended.
    pub(crate) fn ended(&self) -> impl Iterator<Item = &TrialRecord> {
        let waiting = self.waiting.values().filter_map(|trial| trial.as_ref().ok());
        self.counted.iter().chain(waiting.map(|trial| &trial.record))
    }

    /// The attempts at these that were followed by another one.
    pub(crate) fn retried(&self) -> impl Iterator<Item = &TrialRecord> {
        let waiting = self.waiting.values().filter_map(|trial| trial.as_ref().ok());
        self.retried.iter().chain(waiting.flat_map(|trial| &trial.retried))
    }

    pub(crate) fn into_case_trials(self) -> CaseTrials {
        let Self { counted, mut retried, waiting, .. } = self;
        let mut surplus = Vec::new();
        for mut trial in waiting.into_values().flatten() {
            surplus.push(trial.record);
            retried.append(&mut trial.retried);
        }
        CaseTrials { counted, surplus, confirming: Vec::new(), retried, end: self.end.unwrap_or(TrialsEnd::Decided) }
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_records::record::{Reason, ReasonCode, Rule, Stage};

    use super::*;

    const EVERY: CaseStandard = CaseStandard { rule: Rule::Every, threshold: 0.8, tolerated_errors: 0 };
    const FIVE: StopRule =
        StopRule { standard: EVERY, planned: 5, run_all: false, ends_with_error: false, cost_limit_usd: None };

    fn trial(index: u32, outcome: Status) -> Result<EndedTrial, Reason> {
        let mut record = TrialRecord::new();
        (record.trial, record.outcome, record.cost_usd) = (index, outcome, Some(0.25));
        Ok(EndedTrial { record, retried: Vec::new() })
    }

    fn spent() -> Reason {
        Reason::new(Stage::Budget, ReasonCode::BudgetExceeded, "spent")
    }

    /// Indices of the trials that count and of those that do not, when trials end in this order.
    fn counted(stop: StopRule, trials: Vec<(u32, Result<EndedTrial, Reason>)>) -> (Vec<u32>, Vec<u32>, TrialsEnd) {
        let mut count = CountedTrials::new(stop);
        for (index, trial) in trials {
            count.add(index, trial);
            while count.count_next() {}
        }
        let indices = |trials: Vec<TrialRecord>| trials.iter().map(|trial| trial.trial).collect();
        let trials = count.into_case_trials();
        (indices(trials.counted), indices(trials.surplus), trials.end)
    }

    #[test]
    fn a_stop_is_where_trials_one_after_another_would_stop() {
        use Status::{Failed, Passed, Skipped};
        let ended = |order: &[(u32, Status)]| order.iter().map(|(i, outcome)| (*i, trial(*i, *outcome))).collect();
        let order = [(3, Failed), (2, Passed), (0, Passed), (1, Failed), (4, Passed)];
        assert_eq!(counted(FIVE, ended(&order)), (vec![0, 1], vec![2, 3, 4], TrialsEnd::Decided));
        let order = [(4, Passed), (3, Passed), (2, Passed), (1, Passed), (0, Passed)];
        assert_eq!(counted(FIVE, ended(&order)), (vec![0, 1, 2, 3, 4], vec![], TrialsEnd::Decided));
        let any = StopRule { standard: CaseStandard { rule: Rule::Any, ..EVERY }, ..FIVE };
        assert_eq!(counted(any, ended(&[(1, Passed), (0, Failed)])), (vec![0, 1], vec![], TrialsEnd::Decided));
        let all = StopRule { run_all: true, ..any };
        assert_eq!(counted(all, ended(&order)).0, [0, 1, 2, 3, 4]);
        assert_eq!(counted(all, ended(&[(1, Passed), (0, Skipped)])), (vec![0], vec![1], TrialsEnd::Decided));
        let limited = StopRule { cost_limit_usd: Some(0.5), ..FIVE };
        assert_eq!(counted(limited, ended(&order)), (vec![0, 1], vec![2, 3, 4], TrialsEnd::CostLimit));
        let judged = |index, outcome| {
            let mut trial = trial(index, outcome).unwrap();
            (trial.record.judge_cost_usd, trial.record.user_cost_usd) = (Some(0.125), Some(0.125));
            Ok(trial)
        };
        let trials = order.map(|(index, outcome)| (index, judged(index, outcome))).into();
        assert_eq!(counted(limited, trials).0, [0], "judges and users count, too");
    }

    #[test]
    fn a_trial_that_cannot_start_ends_the_case_only_where_it_is_reached() {
        use Status::{Failed, Passed};
        let prevented = vec![(2, Err(spent())), (1, trial(1, Passed)), (0, trial(0, Passed))];
        assert_eq!(counted(FIVE, prevented), (vec![0, 1], vec![], TrialsEnd::Prevented(spent())));
        let decided = vec![(2, Err(spent())), (1, trial(1, Passed)), (0, trial(0, Failed))];
        assert_eq!(counted(FIVE, decided), (vec![0], vec![1], TrialsEnd::Decided));
        let all = StopRule { run_all: true, ..FIVE };
        let enough = vec![(1, Err(spent())), (0, trial(0, Failed))];
        assert_eq!(counted(all, enough), (vec![0], vec![], TrialsEnd::CostLimit));
    }
}
