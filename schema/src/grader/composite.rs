//! Settings of `composite`.

use serde::{Deserialize, Serialize};

use super::{Grader, PreparedCommand, Prompt};

/// Settings of `composite`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Composite {
    /// The graders, at least one, with unique names.
    pub members: Vec<Grader>,
    /// How they are combined.
    pub aggregator: Aggregator,
}

/// How the members of a composite are combined into one score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aggregator {
    /// Weighted mean of the members' values.
    #[serde(rename = "weighted_average")]
    WeightedAverage {
        /// Weight by member name, where it differs from the member's own, in the order written.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        weights: Vec<(String, f64)>,
    },
    /// Share of passing members, compared with a threshold.
    Threshold {
        /// The threshold, 0 to 1.
        threshold: f64,
    },
    /// A command decides.
    CodeGrader(PreparedCommand),
    /// A model decides.
    LlmGrader {
        /// Prompt with `{{EVALUATOR_RESULTS_JSON}}`; `None`: the built-in one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<Prompt>,
        /// Model handed to the judge.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
}
