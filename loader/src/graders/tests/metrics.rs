//! `latency`, `cost`, `token-usage` and `execution-metrics`.

use evalsuite_schema::grader::{ExecutionMetrics, GraderConfig, TokenUsage};

use super::{check, config};
use crate::tests::Package;

#[test]
fn limits_are_numbers_of_at_least_zero() {
    assert_eq!(
        config("{type: token_usage, max_total: 150, max_output: 0}"),
        GraderConfig::TokenUsage(TokenUsage { max_total: Some(150.0), max_output: Some(0.0), max_input: None })
    );
    assert_eq!(
        config("{type: execution-metrics, max_tool_calls: 2.5, min_llm_calls: 1, exploration_tolerance: 3}"),
        GraderConfig::ExecutionMetrics(ExecutionMetrics {
            max_tool_calls: Some(2.5),
            min_llm_calls: Some(1.0),
            exploration_tolerance: Some(3.0),
            ..ExecutionMetrics::default()
        })
    );
    check(&[
        ("{type: latency, threshold: -1}", &["1:30 E024 `threshold` is -1, which is not a number of at least 0"]),
        ("{type: latency, max_duration_ms: 5}", &["1:19 E019 unknown key `max_duration_ms` in `latency`"]),
        ("{type: cost, budget: '1'}", &["1:24 E020 `budget` must be a number, found text"]),
        ("{type: cost}", &["1:3 E052 missing key `budget` in `cost`"]),
        ("{type: token-usage}", &["1:3 E052 the grader has nothing to check"]),
        ("{type: token-usage, max_total: '150'}", &["1:34 E020 `max_total` must be a number, found text"]),
        ("{type: execution-metrics, exploration_tolerance: 0.5}", &["1:3 E052 the grader has nothing to check"]),
        (
            "{type: execution-metrics, target_exploration_ratio: 1.5}",
            &["1:55 E024 `target_exploration_ratio` is 1.5, which is not a number within 0..1"],
        ),
        (
            "{type: execution-metrics, max_tokens: 1, maxTokens: 2}",
            &["1:44 E025 `max_tokens` and `maxTokens` are one setting"],
        ),
    ]);
}

#[test]
fn camel_case_is_an_old_spelling() {
    let package = Package::new(&[]);
    let (parsed, d) = package.read("[{type: execution-metrics, maxLlmCalls: 3}]");
    assert_eq!(package.lines(&d), ["1:28 W001 `maxLlmCalls` is now `max_llm_calls`"]);
    let GraderConfig::ExecutionMetrics(metrics) = &parsed[0].grader.config else { panic!("another type") };
    assert_eq!(metrics.max_llm_calls, Some(3.0));
}
