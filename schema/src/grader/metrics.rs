//! Settings of `latency`, `cost`, `token-usage` and `execution-metrics`.

use serde::{Deserialize, Serialize};

/// Settings of `latency`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Longest duration that passes, in milliseconds.
    pub threshold: f64,
}

/// Settings of `cost`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Highest cost that passes, in US dollars.
    pub budget: f64,
}

/// Settings of `token-usage`; at least one is set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Largest sum of input, output and cached tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_total: Option<f64>,
    /// Largest number of input tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_input: Option<f64>,
    /// Largest number of output tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<f64>,
}

/// Settings of `execution-metrics`; at least one check is set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExecutionMetrics {
    /// Smallest number of tool calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_tool_calls: Option<f64>,
    /// Largest number of tool calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tool_calls: Option<f64>,
    /// Smallest number of model calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_llm_calls: Option<f64>,
    /// Largest number of model calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_llm_calls: Option<f64>,
    /// Largest sum of input and output tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<f64>,
    /// Highest cost, in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
    /// Longest duration, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_duration_ms: Option<f64>,
    /// Expected share of exploring calls among all calls, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_exploration_ratio: Option<f64>,
    /// Largest distance from that share; `None`: 0.2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exploration_tolerance: Option<f64>,
}
