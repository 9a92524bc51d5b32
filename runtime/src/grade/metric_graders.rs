//! The graders `latency`, `cost`, `token-usage` and `execution-metrics`.

use evalsuite_records::record::Assertion;
use evalsuite_schema::decimal::{at_most, shown_against};
use evalsuite_schema::grader::{Cost, ExecutionMetrics, Latency, TokenUsage};

use crate::grade::assertion_text::NO_TRANSCRIPT;
use crate::grade::grader_record::GraderResult;
use crate::grade::number_format::{both_fixed, fixed, show};
use crate::model::evidence::Evidence;
use crate::model::score::Score;
use crate::record::statistics::ratio;

/// Tools whose calls only read.
const EXPLORING: [&str; 10] =
    ["read", "grep", "glob", "search", "list", "Read", "Grep", "Glob", "WebSearch", "WebFetch"];

/// Why there is no cost, and how an agent in Rust reports one.
const NO_COST: &str = "the agent did not report its cost; report it with `trial.cost_usd`";
/// Why there are no tokens, and how an agent in Rust reports them.
const NO_USAGE: &str = "the agent did not report its tokens; report them with `trial.usage`";

/// Default tolerance of the share of exploring calls.
const EXPLORATION_TOLERANCE: f64 = 0.2;

pub(crate) fn latency(config: &Latency, evidence: &Evidence<'_>) -> Score {
    Score::from_assertions([duration(evidence, config.threshold, "threshold")])
}

pub(crate) fn cost(config: &Cost, evidence: &Evidence<'_>) -> GraderResult {
    match evidence.cost_usd() {
        Some(cost) => Score::from_assertions([spending(cost, config.budget, "budget")]).into(),
        None => missing("No cost data available in trace", NO_COST),
    }
}

pub(crate) fn token_usage(config: &TokenUsage, evidence: &Evidence<'_>) -> GraderResult {
    let Some(usage) = evidence.usage() else {
        return missing("No token usage data available in trace", NO_USAGE);
    };
    let (input, output) = (tokens(usage.input), tokens(usage.output));
    let total = input + output + tokens(usage.cached);
    let checks = [
        ("Input tokens", input, config.max_input),
        ("Output tokens", output, config.max_output),
        ("Total tokens", total, config.max_total),
    ];
    let assertions: Vec<Assertion> = checks
        .into_iter()
        .filter_map(|(what, actual, limit)| limit.map(|limit| limited(what, actual, limit, ("at most", ""))))
        .collect();
    let held = assertions.iter().all(|assertion| assertion.passed);
    Score { assertions, ..Score::from(held) }.into()
}

pub(crate) fn execution_metrics(config: &ExecutionMetrics, evidence: &Evidence<'_>) -> GraderResult {
    let calls = evidence.tool_calls();
    let usage = evidence.usage();
    let mut assertions = Vec::new();
    let mut check = |what: &str, (absent, why): (&str, &str), actual: Option<f64>, limits: [Option<f64>; 2]| {
        for (limit, words) in limits.into_iter().zip([("at least", " min"), ("at most", " max")]) {
            assertions.extend(limit.map(|limit| match actual {
                Some(actual) => limited(what, actual, limit, words),
                None => unavailable(absent, why, &format!("{} {limit}", words.0)),
            }));
        }
    };
    let count = calls.as_ref().map(|calls| tokens(calls.len() as u64));
    let tool_calls = [config.min_tool_calls, config.max_tool_calls];
    check("Tool calls", ("Tool call data", NO_TRANSCRIPT), count, tool_calls);
    let llm_calls = [config.min_llm_calls, config.max_llm_calls];
    check("LLM calls", ("LLM call count data", NO_TRANSCRIPT), evidence.llm_calls().map(tokens), llm_calls);
    let spent = usage.map(|usage| tokens(usage.input) + tokens(usage.output));
    check("Total tokens", ("Token usage data", NO_USAGE), spent, [None, config.max_tokens]);
    if let Some(limit) = config.max_cost_usd {
        assertions.push(match evidence.cost_usd() {
            Some(cost) => spending(cost, limit, "max"),
            None => unavailable("Cost data", NO_COST, &format!("at most ${limit}")),
        });
    }
    assertions.extend(config.max_duration_ms.map(|limit| duration(evidence, limit, "max")));
    if let Some(target) = config.target_exploration_ratio {
        let tolerance = config.exploration_tolerance.unwrap_or(EXPLORATION_TOLERANCE);
        let names = calls.map(|calls| calls.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>());
        assertions.push(exploration(names.as_deref(), target, tolerance));
    }
    // What the agent did not report is in the evidence of the assertion about it.
    let lacks_evidence = assertions.iter().any(|assertion| assertion.evidence.is_some());
    GraderResult { lacks_evidence, ..Score::from_assertions(assertions).into() }
}

/// Checks how long the agent worked; `kind` is the word for the limit.
fn duration(evidence: &Evidence<'_>, limit: f64, kind: &str) -> Assertion {
    let held = at_most(evidence.facts().duration_ms, limit);
    let (duration, limit) = (show(evidence.facts().duration_ms), show(limit));
    Assertion::new(format!("Duration {duration}ms {} {limit}ms {kind}", sign(held)), held)
        .with_expected(format!("at most {limit} ms"))
        .with_actual(format!("{duration} ms"))
}

/// Checks what the agent cost; `kind` is the word for the limit.
fn spending(cost: f64, limit: f64, kind: &str) -> Assertion {
    let held = at_most(cost, limit);
    let (shown, mark) = both_fixed(cost, limit, 4);
    Assertion::new(format!("Cost ${shown} {} ${mark} {kind}", sign(held)), held)
        .with_expected(format!("at most ${limit}"))
        .with_actual(format!("${cost}"))
}

fn exploration(calls: Option<&[&str]>, target: f64, tolerance: f64) -> Assertion {
    let Some(calls @ [_, ..]) = calls else {
        let missing = Assertion::new("Exploration ratio not available (no tool calls)", false)
            .with_expected(format!("{target} ± {tolerance}"));
        return if calls.is_none() { missing.with_evidence(NO_TRANSCRIPT) } else { missing };
    };
    let exploring = calls.iter().filter(|name| EXPLORING.contains(name)).count();
    let share = ratio(exploring, calls.len());
    let distance = (share - target).abs();
    let held = at_most(distance, tolerance);
    let shown = fixed(share, 2);
    let text = if held {
        format!("Exploration ratio {shown} within tolerance of target {}", show(target))
    } else {
        let (distance, tolerance, target) = (shown_against(distance, tolerance), show(tolerance), show(target));
        format!(
            "Exploration ratio {shown} outside tolerance of target {target} (diff: {distance}, tolerance: {tolerance})"
        )
    };
    Assertion::new(text, held).with_expected(format!("{target} ± {tolerance}")).with_actual(format!("{share}"))
}

/// Checks a number; `sense` is "at least" or "at most", and `suffix` ends the text.
fn limited(what: &str, actual: f64, limit: f64, (sense, suffix): (&str, &str)) -> Assertion {
    let (held, sign) = match sense {
        "at least" => (actual >= limit, if actual >= limit { ">=" } else { "<" }),
        _ => (actual <= limit, sign(actual <= limit)),
    };
    let (actual, limit) = (show(actual), show(limit));
    Assertion::new(format!("{what} {actual} {sign} {limit}{suffix}"), held)
        .with_expected(format!("{sense} {limit}"))
        .with_actual(actual)
}

fn sign(held: bool) -> &'static str {
    if held { "<=" } else { ">" }
}

#[allow(clippy::cast_precision_loss, reason = "limits are compared as JSON numbers, which are doubles")]
fn tokens(count: u64) -> f64 {
    count as f64
}

fn unavailable(what: &str, why: &str, expected: &str) -> Assertion {
    Assertion::new(format!("{what} not available"), false).with_expected(expected).with_evidence(why)
}

fn missing(text: &str, why: &str) -> GraderResult {
    GraderResult::without_evidence([Assertion::new(text, false).with_evidence(why)])
}

#[cfg(test)]
mod tests {
    use evalsuite_records::record::Usage;
    use evalsuite_schema::{Message, Role, ToolCall};

    use super::*;
    use crate::model::evidence::Facts;
    use crate::model::score::ScoreState;

    fn evidence(calls: &[&str]) -> Evidence<'static> {
        let mut message = Message::text(Role::Assistant, "done");
        message.tool_calls = calls.iter().map(|name| ToolCall::new(*name)).collect();
        Evidence::new(Facts {
            transcript: Some(vec![message]),
            usage: Some(Usage::new(100, 50).with_cached(25)),
            cost_usd: Some(0.05),
            duration_ms: 12.5,
            ..Facts::default()
        })
    }

    fn unreported() -> Evidence<'static> {
        Evidence::new(Facts::default())
    }

    #[test]
    fn limits_are_inclusive() {
        assert_eq!(latency(&Latency { threshold: 12.5 }, &evidence(&[])).state, ScoreState::Decided(1.0));
        assert_eq!(latency(&Latency { threshold: 12.4 }, &evidence(&[])).state, ScoreState::Decided(0.0));
        assert_eq!(cost(&Cost { budget: 0.05 }, &evidence(&[])).score.state, ScoreState::Decided(1.0));
    }

    #[test]
    fn cached_tokens_count_for_the_total_only() {
        let total = TokenUsage { max_total: Some(174.0), ..TokenUsage::default() };
        assert_eq!(token_usage(&total, &evidence(&[])).score.state, ScoreState::Decided(0.0));
        let both = TokenUsage { max_input: Some(100.0), max_output: Some(50.0), ..TokenUsage::default() };
        assert_eq!(token_usage(&both, &evidence(&[])).score.state, ScoreState::Decided(1.0));
        let spent = ExecutionMetrics { max_tokens: Some(150.0), ..ExecutionMetrics::default() };
        assert_eq!(execution_metrics(&spent, &evidence(&[])).score.state, ScoreState::Decided(1.0));
    }

    #[test]
    fn what_was_not_reported_scores_0() {
        assert_eq!(cost(&Cost { budget: 9.0 }, &unreported()).score.state, ScoreState::Decided(0.0));
        let config = ExecutionMetrics { max_tool_calls: Some(9.0), max_duration_ms: Some(1.0), ..Default::default() };
        let score = execution_metrics(&config, &unreported()).score;
        assert_eq!(score.state, ScoreState::Decided(0.5));
        let [calls, _] = score.assertions.as_slice() else { panic!("expected two assertions: {score:?}") };
        assert_eq!(calls.text, "Tool call data not available");
        let why = calls.evidence.as_deref().unwrap();
        assert!(why.contains("`trial.tool_call`") && why.contains("`trial.transcript_complete`"), "{why}");
    }

    #[test]
    fn calls_have_a_smallest_and_a_largest_number() {
        let config = ExecutionMetrics { min_tool_calls: Some(2.0), max_tool_calls: Some(3.0), ..Default::default() };
        let value = |calls: &[&str]| execution_metrics(&config, &evidence(calls)).score.state;
        assert_eq!(value(&["a", "b"]), ScoreState::Decided(1.0));
        assert_eq!(value(&["a"]), ScoreState::Decided(0.5));
        assert_eq!(value(&["a"; 4]), ScoreState::Decided(0.5));
        let config = ExecutionMetrics { min_llm_calls: Some(2.0), ..Default::default() };
        let score = execution_metrics(&config, &evidence(&[])).score;
        assert_eq!(score.assertions[0].text, "LLM calls 1 < 2 min");
        let missing = execution_metrics(&config, &unreported()).score;
        assert_eq!(missing.assertions[0].expected.as_deref(), Some("at least 2"));
    }

    #[test]
    fn the_share_of_exploring_calls_is_compared_with_its_target() {
        let config = ExecutionMetrics { target_exploration_ratio: Some(0.5), ..Default::default() };
        assert_eq!(execution_metrics(&config, &evidence(&["Read", "Edit"])).score.state, ScoreState::Decided(1.0));
        assert_eq!(execution_metrics(&config, &evidence(&["Edit"])).score.state, ScoreState::Decided(0.0));
        assert_eq!(execution_metrics(&config, &evidence(&[])).score.state, ScoreState::Decided(0.0));
    }
}
