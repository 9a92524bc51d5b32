//! What the trials of an arm used.

use evalsuite_records::record::TrialSummary;
use evalsuite_records::sums::mean;
use evalsuite_schema::json::written_by_serde;
use serde::Serialize;

use crate::run_data::CaseData;

/// What the trials of an arm used: means over the trials for which it is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ArmTotals {
    /// Name of its target.
    pub arm: String,
    /// Number of trials of the compared cases.
    pub trials: usize,
    /// Tokens of the agent in one trial, read from a cache or not; `None` if no trial reported them.
    pub tokens: Option<f64>,
    /// Cost of the agent in one trial, in US dollars.
    pub cost_usd: Option<f64>,
    /// Seconds that the agent worked in one trial.
    pub seconds: Option<f64>,
}

written_by_serde!(ArmTotals);

impl ArmTotals {
    pub(super) fn new(arm: &str, cases: &[&CaseData]) -> Self {
        let trials: Vec<&TrialSummary> = cases.iter().flat_map(|case| &case.record.trials).collect();
        let mean_of = |of: &dyn Fn(&TrialSummary) -> Option<f64>| {
            mean(&trials.iter().filter_map(|trial| of(trial)).collect::<Vec<_>>())
        };
        Self {
            arm: arm.to_owned(),
            trials: trials.len(),
            tokens: mean_of(&|trial| Some(trial.usage?.total() as f64)),
            cost_usd: mean_of(&|trial| trial.cost_usd),
            seconds: mean_of(&|trial| Some(trial.duration_ms? as f64 / 1e3)),
        }
    }
}
