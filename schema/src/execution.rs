//! How often and against which targets cases run.

use serde::{Deserialize, Serialize};

use crate::{Hooks, is_default};

/// How often a case runs and how its trials decide it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Trials {
    /// Planned number of trials, at least 1.
    pub count: u32,
    /// How trials decide the case. `None`: the suite's kind decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// No further trial starts once the trials of the case have cost this many US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_limit_usd: Option<f64>,
    /// Number of trials that may end in an error, after their retries, without making the case an error. They count as
    /// if they had not run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub errors: u32,
}

impl Trials {
    /// A number of trials, at least 1.
    pub fn new(count: u32) -> Self {
        Self { count, strategy: None, cost_limit_usd: None, errors: 0 }
    }
}

impl Default for Trials {
    fn default() -> Self {
        Self::new(1)
    }
}

/// How the trials of a case decide it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// One passed trial passes the case.
    PassAtK,
    /// The mean of the scores is compared with the threshold.
    Mean,
    /// The lower bound of the 95 % confidence interval of the mean is compared with the threshold.
    ConfidenceInterval,
}

/// An entry of the target matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Name seen by the agent.
    pub name: String,
    /// Entry of targets.yaml used in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_target: Option<String>,
    /// Hooks of this target.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hooks: Hooks,
}
