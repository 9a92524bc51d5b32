//! What gates measure.

use evalsuite_schema::record::{CaseOutcome, TrialSummary};

use crate::run_data::CaseData;
use crate::statistics::{mean, wilson_interval};

/// What a gate measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Measure {
    /// `pass_rate`: share of the cases that passed, 0 to 1. A case with an error did not pass; skipped cases do not count.
    PassRate,
    /// `lower(pass_rate)`: lower end of Wilson's 95 % interval of that rate.
    LowerPassRate,
    /// `score`: mean over the cases of the mean score of their trials, 0 to 1.
    Score,
    /// `cost`: US dollars of agents and judges together, of all trials.
    Cost,
    /// `time`: seconds that agents worked, of all trials.
    Time,
    /// `p50(time)`: seconds that half of the trials do not exceed.
    MedianTime,
    /// `p95(time)`: seconds that 95 % of the trials do not exceed.
    P95Time,
}

/// A measured value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measured {
    pub(super) value: Option<f64>,
    /// Cases, or trials, that should be in the value and are not.
    pub(super) unknown: usize,
}

impl Measure {
    pub(super) const ALL: [Self; 7] =
        [Self::PassRate, Self::LowerPassRate, Self::Score, Self::Cost, Self::Time, Self::MedianTime, Self::P95Time];

    /// As it is written in gates.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PassRate => "pass_rate",
            Self::LowerPassRate => "lower(pass_rate)",
            Self::Score => "score",
            Self::Cost => "cost",
            Self::Time => "time",
            Self::MedianTime => "p50(time)",
            Self::P95Time => "p95(time)",
        }
    }

    /// Whether more is better.
    pub(super) fn is_share(self) -> bool {
        matches!(self, Self::PassRate | Self::LowerPassRate | Self::Score)
    }

    pub(super) fn is_time(self) -> bool {
        matches!(self, Self::Time | Self::MedianTime | Self::P95Time)
    }

    /// Measures cases that were not skipped.
    pub(super) fn of(self, cases: &[&CaseData]) -> Measured {
        let trials = || cases.iter().flat_map(|case| case.record.trials.iter().chain(&case.record.surplus));
        match self {
            Self::PassRate | Self::LowerPassRate => {
                let passed = cases.iter().filter(|case| case.record.outcome == CaseOutcome::Passed).count();
                let counts = [passed, cases.len()].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
                let interval = wilson_interval(counts[0], counts[1]);
                let rate = interval.map(|_| f64::from(counts[0]) / f64::from(counts[1]));
                let lower = interval.map(|(lower, _)| lower);
                Measured { value: if self == Self::PassRate { rate } else { lower }, unknown: 0 }
            }
            Self::Score => {
                let means: Vec<f64> = cases.iter().filter_map(|case| mean_score(case)).collect();
                Measured { value: (!means.is_empty()).then(|| mean(&means)), unknown: cases.len() - means.len() }
            }
            Self::Cost => {
                let costs: Vec<f64> = trials().filter_map(cost).collect();
                let known = trials().filter(|trial| trial.cost_usd.is_some()).count();
                Measured { value: (known > 0).then(|| costs.iter().sum()), unknown: trials().count() - known }
            }
            Self::Time | Self::MedianTime | Self::P95Time => {
                let mut seconds: Vec<f64> = trials().filter_map(|trial| trial.duration_ms).map(to_seconds).collect();
                seconds.sort_unstable_by(f64::total_cmp);
                let value = match self {
                    Self::MedianTime => nearest_rank(&seconds, 50),
                    Self::P95Time => nearest_rank(&seconds, 95),
                    _ => (!seconds.is_empty()).then(|| seconds.iter().sum()),
                };
                Measured { value, unknown: trials().count() - seconds.len() }
            }
        }
    }
}

fn mean_score(case: &CaseData) -> Option<f64> {
    let completed = |trial: &&TrialSummary| matches!(trial.outcome, CaseOutcome::Passed | CaseOutcome::Failed);
    let scores: Vec<f64> = case.record.trials.iter().filter(completed).filter_map(|trial| trial.score).collect();
    (!scores.is_empty()).then(|| mean(&scores))
}

/// What agent and judges cost. Judges alone are no cost of a trial that is known.
fn cost(trial: &TrialSummary) -> Option<f64> {
    match (trial.cost_usd, trial.judge_cost_usd) {
        (None, None) => None,
        (agent, judges) => Some(agent.unwrap_or_default() + judges.unwrap_or_default()),
    }
}

#[allow(clippy::cast_precision_loss, reason = "2^53 milliseconds are 285,000 years")]
fn to_seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1e3
}

/// The smallest value that this percentage of the sorted values does not exceed.
fn nearest_rank(sorted: &[f64], percent: usize) -> Option<f64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
}
