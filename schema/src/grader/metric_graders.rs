//! Settings of `latency`, `cost`, `token-usage` and `execution-metrics`.

use evalsuite_derive::{Keys, skip_empty};

use super::GraderSettings;
use crate::json::{FromJson, FromJsonOverDefault, ToJson};

/// The duration is at most `threshold`.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
pub struct Latency {
    /// Longest duration that passes.
    #[key(Number(&NOT_NEGATIVE), "5000", required, unit = "milliseconds", codes(UnlikelyLimit))]
    pub threshold: f64,
}

impl GraderSettings for Latency {}

/// The cost is at most `budget`.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
pub struct Cost {
    /// Highest cost that passes.
    #[key(Number(&NOT_NEGATIVE), "0.05", required, unit = "US dollars")]
    pub budget: f64,
}

impl GraderSettings for Cost {}

/// Token counts are within the limits, at least one of which is set.
#[skip_empty]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault, Keys)]
pub struct TokenUsage {
    /// Largest sum of input, output and cached tokens.
    #[key(Number(&NOT_NEGATIVE), "20000", old("maxTotal"), unit = "tokens", codes(MissingGraderSetting))]
    pub max_total: Option<f64>,
    /// Largest number of input tokens.
    #[key(Number(&NOT_NEGATIVE), "15000", old("maxInput"), unit = "tokens", codes(MissingGraderSetting))]
    pub max_input: Option<f64>,
    /// Largest number of output tokens.
    #[key(Number(&NOT_NEGATIVE), "5000", old("maxOutput"), unit = "tokens", codes(MissingGraderSetting))]
    pub max_output: Option<f64>,
}

impl GraderSettings for TokenUsage {}

/// All limits hold, at least one of which is set; the score is the share that holds.
#[skip_empty]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault, Keys)]
pub struct ExecutionMetrics {
    /// Smallest number of tool calls.
    #[key(Number(&NOT_NEGATIVE), "1", unit = "calls", codes(MissingGraderSetting))]
    pub min_tool_calls: Option<f64>,
    /// Largest number of tool calls.
    #[key(Number(&NOT_NEGATIVE), "10", old("maxToolCalls"), unit = "calls", codes(MissingGraderSetting))]
    pub max_tool_calls: Option<f64>,
    /// Smallest number of model calls.
    #[key(Number(&NOT_NEGATIVE), "2", unit = "calls", codes(MissingGraderSetting))]
    pub min_llm_calls: Option<f64>,
    /// Largest number of model calls.
    #[key(Number(&NOT_NEGATIVE), "5", old("maxLlmCalls"), unit = "calls", codes(MissingGraderSetting))]
    pub max_llm_calls: Option<f64>,
    /// Largest sum of input and output tokens.
    #[key(Number(&NOT_NEGATIVE), "20000", old("maxTokens"), unit = "tokens", codes(MissingGraderSetting))]
    pub max_tokens: Option<f64>,
    /// Highest cost.
    #[key(Number(&NOT_NEGATIVE), "0.05", old("maxCostUsd"), unit = "US dollars", codes(MissingGraderSetting))]
    pub max_cost_usd: Option<f64>,
    /// Longest duration.
    #[key(Number(&NOT_NEGATIVE), "30000", old("maxDurationMs"), unit = "milliseconds", codes(MissingGraderSetting))]
    pub max_duration_ms: Option<f64>,
    /// Expected share of exploring calls among all tool calls.
    #[key(Number(&FRACTION), "0.6", old("targetExplorationRatio"), codes(MissingGraderSetting))]
    pub target_exploration_ratio: Option<f64>,
    /// Largest distance from that share.
    #[key(Number(&NOT_NEGATIVE), "0.1", old("explorationTolerance"), default = "0.2")]
    pub exploration_tolerance: Option<f64>,
}

impl GraderSettings for ExecutionMetrics {}
