//! Limits of time, cost, tokens and calls.

use super::grader;
use crate::diagnostic::Code;
use crate::keys::range::{FRACTION, NOT_NEGATIVE};
use crate::keys::{Key, Table, Type};

pub(crate) static LATENCY: Table = grader(
    "latency",
    "`latency`",
    r#"{ type: latency, threshold: 5000 }"#,
    "The duration is at most `threshold`.",
    &[Key::new("threshold", Type::Number(&NOT_NEGATIVE), "Longest duration that passes.", "5000")
        .required()
        .unit("milliseconds")],
);

pub(crate) static COST: Table = grader(
    "cost",
    "`cost`",
    r#"{ type: cost, budget: 0.05 }"#,
    "The cost is at most `budget`.",
    &[Key::new("budget", Type::Number(&NOT_NEGATIVE), "Highest cost that passes.", "0.05")
        .required()
        .unit("US dollars")],
);

/// A limit, with its old spelling.
const fn limit(
    name: &'static str,
    old: &'static [&'static str],
    unit: &'static str,
    doc: &'static str,
    example: &'static str,
) -> Key {
    Key::new(name, Type::Number(&NOT_NEGATIVE), doc, example).old(old).unit(unit).codes(&[Code::MissingGraderSetting])
}

pub(crate) static TOKEN_USAGE: Table = grader(
    "token-usage",
    "`token-usage`",
    r#"{ type: token-usage, max_total: 20000 }"#,
    "Token counts are within their limits, of which there is at least one.",
    &[
        limit("max_total", &["maxTotal"], "tokens", "Largest sum of input, output and cached tokens.", "20000"),
        limit("max_input", &["maxInput"], "tokens", "Largest number of input tokens.", "15000"),
        limit("max_output", &["maxOutput"], "tokens", "Largest number of output tokens.", "5000"),
    ],
);

pub(crate) static EXECUTION_METRICS: Table = grader(
    "execution-metrics",
    "`execution-metrics`",
    r#"{ type: execution-metrics, max_tool_calls: 10, max_duration_ms: 30000 }"#,
    "Several limits at once, of which there is at least one; the score is the share that is kept.",
    &[
        limit("min_tool_calls", &[], "calls", "Smallest number of tool calls.", "1"),
        limit("max_tool_calls", &["maxToolCalls"], "calls", "Largest number of tool calls.", "10"),
        limit("min_llm_calls", &[], "calls", "Smallest number of model calls.", "2"),
        limit("max_llm_calls", &["maxLlmCalls"], "calls", "Largest number of model calls.", "5"),
        limit("max_tokens", &["maxTokens"], "tokens", "Largest sum of input and output tokens.", "20000"),
        limit("max_cost_usd", &["maxCostUsd"], "US dollars", "Highest cost.", "0.05"),
        limit("max_duration_ms", &["maxDurationMs"], "milliseconds", "Longest duration.", "30000"),
        Key::new(
            "target_exploration_ratio",
            Type::Number(&FRACTION),
            "Wanted share of exploring calls among all tool calls.",
            "0.6",
        )
        .old(&["targetExplorationRatio"])
        .codes(&[Code::MissingGraderSetting]),
        Key::new("exploration_tolerance", Type::Number(&NOT_NEGATIVE), "Largest distance from that share.", "0.1")
            .old(&["explorationTolerance"])
            .default("0.2"),
    ],
);
