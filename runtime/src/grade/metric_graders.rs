//! The graders `latency`, `cost`, `token-usage` and `execution-metrics`.
//!
//! What graders read of an agent's work. The one rule for data that is missing: what was neither reported nor measured is an error of the
//! grader that reads it, which is neither a fail nor a pass, also with `negate`.

use std::fmt;

use evalsuite_records::record::{Assertion, Usage};
use evalsuite_schema::ToolCall;
use evalsuite_schema::decimal::{at_most, shown_beside};
use evalsuite_schema::diagnostics::suggest::listed;
use evalsuite_schema::grader::{Cost, ExecutionMetrics, Latency, TokenUsage};

use crate::grade::assertion_text::{both_fixed, fixed, show};
use crate::model::evidence::Evidence;
use crate::model::score::Score;
use crate::record::trial_statistics::ratio;

/// Tools whose calls only read.
const EXPLORING: [&str; 10] =
    ["read", "grep", "glob", "search", "list", "Read", "Grep", "Glob", "WebSearch", "WebFetch"];

/// Default tolerance of the share of exploring calls.
const EXPLORATION_TOLERANCE: f64 = 0.2;

pub(crate) fn latency(config: &Latency, evidence: &Evidence<'_>) -> Result<Score, NotReported> {
    Ok(Score::from_assertions([took(duration_ms(evidence)?, config.threshold, "threshold")]))
}

pub(crate) fn cost(config: &Cost, evidence: &Evidence<'_>) -> Result<Score, NotReported> {
    Ok(Score::from_assertions([spending(cost_usd(evidence)?, config.budget, "budget")]))
}

pub(crate) fn token_usage(config: &TokenUsage, evidence: &Evidence<'_>) -> Result<Score, NotReported> {
    let usage = usage(evidence)?;
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
    Ok(Score { assertions, ..Score::from(held) })
}

pub(crate) fn execution_metrics(config: &ExecutionMetrics, evidence: &Evidence<'_>) -> Result<Score, NotReported> {
    let mut assertions = Vec::new();
    let mut bounds = |what: &str, [least, most]: [Option<f64>; 2], count: &dyn Fn() -> Result<u64, NotReported>| {
        for (limit, words) in [(least, ("at least", " min")), (most, ("at most", " max"))] {
            if let Some(limit) = limit {
                assertions.push(limited(what, tokens(count()?), limit, words));
            }
        }
        Ok(())
    };
    let calls = || tool_calls(evidence);
    bounds("Tool calls", [config.min_tool_calls, config.max_tool_calls], &|| Ok(calls()?.len() as u64))?;
    bounds("LLM calls", [config.min_llm_calls, config.max_llm_calls], &|| llm_calls(evidence))?;
    let spent = || usage(evidence).map(|usage| usage.input.saturating_add(usage.output));
    bounds("Total tokens", [None, config.max_tokens], &spent)?;
    if let Some(limit) = config.max_cost_usd {
        assertions.push(spending(cost_usd(evidence)?, limit, "max"));
    }
    if let Some(limit) = config.max_duration_ms {
        assertions.push(took(duration_ms(evidence)?, limit, "max"));
    }
    if let Some(target) = config.target_exploration_ratio {
        let tolerance = config.exploration_tolerance.unwrap_or(EXPLORATION_TOLERANCE);
        let names: Vec<&str> = calls()?.iter().map(|call| call.tool.as_str()).collect();
        assertions.push(exploration(&names, target, tolerance));
    }
    Ok(Score::from_assertions(assertions))
}

/// Checks how long the agent worked; `kind` is the word for the limit.
fn took(duration: f64, limit: f64, kind: &str) -> Assertion {
    let held = at_most(duration, limit);
    let (exact, shown) = (show(duration), shown_beside(duration, limit));
    let limit = show(limit);
    Assertion::new(format!("Duration {exact}ms {} {limit}ms {kind}", sign(held)), held)
        .with_expected(format!("at most {limit} ms"))
        .with_actual(format!("{shown} ms"))
}

/// Checks what the agent cost; `kind` is the word for the limit.
fn spending(cost: f64, limit: f64, kind: &str) -> Assertion {
    let held = at_most(cost, limit);
    let (shown, mark) = both_fixed(cost, limit, 4);
    Assertion::new(format!("Cost ${shown} {} ${mark} {kind}", sign(held)), held)
        .with_expected(format!("at most ${limit}"))
        .with_actual(format!("${}", shown_beside(cost, limit)))
}

fn exploration(calls: &[&str], target: f64, tolerance: f64) -> Assertion {
    if calls.is_empty() {
        return Assertion::new("Exploration ratio not available (no tool calls)", false)
            .with_expected(format!("{target} ± {tolerance}"));
    }
    let exploring = calls.iter().filter(|name| EXPLORING.contains(name)).count();
    let share = ratio(exploring, calls.len());
    let distance = (share - target).abs();
    let held = at_most(distance, tolerance);
    let shown = fixed(share, 2);
    let text = if held {
        format!("Exploration ratio {shown} within tolerance of target {}", show(target))
    } else {
        let ((distance, _), tolerance, target) = (both_fixed(distance, tolerance, 2), show(tolerance), show(target));
        format!(
            "Exploration ratio {shown} outside tolerance of target {target} (diff: {distance}, tolerance: {tolerance})"
        )
    };
    Assertion::new(text, held)
        .with_expected(format!("{target} ± {tolerance}"))
        .with_actual(shown_beside(share, if share > target { target + tolerance } else { target - tolerance }))
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

/// Why there are no calls, and how an agent reports them.
const NO_CALLS: &str = "the agent reported no calls: an agent in Rust records each with `trial.tool_call`, or calls \
    `trial.transcript_complete` if there are none; a command writes them as `messages` to its output file";
/// Why not all calls are known of an agent whose calls only its MCP servers show.
const ONLY_SERVERS: &str = "calls of other tools than those of MCP servers are not known: the agent reports no calls itself; if it has no \
    other tools, write `only_tools: true` in `mcp` of its target";
/// The same of calls that a pattern means.
const MORE_TOOLS: &str = "the agent reports no calls itself, and may have other tools than those of its MCP servers; if it has none, write \
    `only_tools: true` in `mcp` of its target";
/// Why there is no cost, and how an agent reports it.
const NO_COST: &str = "the agent did not report its cost: an agent in Rust reports it with `trial.cost_usd`; a command writes it as \
    `cost_usd` to its output file";
/// Why there are no tokens, and how an agent reports them.
const NO_USAGE: &str = "the agent did not report its tokens: an agent in Rust reports them with `trial.usage`; a command writes them as \
    `token_usage` to its output file";

/// Why a grader does not have the data that it reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotReported(String);

impl NotReported {
    /// A pattern may mean tools of which no calls are known.
    pub(crate) fn of_pattern(name: &str) -> Self {
        Self(format!("not all calls that `{name}` means are known: {MORE_TOOLS}"))
    }
}

impl fmt::Display for NotReported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether the agent has no other tools than those whose calls are known.
pub(crate) fn knows_all_tools(evidence: &Evidence<'_>) -> bool {
    evidence.facts().unknown.known_tools.is_none()
}

/// The calls of tools, in order.
pub(crate) fn tool_calls<'e>(evidence: &'e Evidence<'_>) -> Result<Vec<&'e ToolCall>, NotReported> {
    let unknown = &evidence.facts().unknown;
    let others = unknown.known_tools.as_ref().map(|_| ONLY_SERVERS);
    known(evidence.tool_calls(), unknown.calls.as_deref().or(others), NO_CALLS)
}

/// The calls of tools with names that `is_meant` accepts, in order. `names` are all names that the grader asks for.
pub(crate) fn calls_of_tools<'e>(
    evidence: &'e Evidence<'_>,
    names: &[&str],
    is_named: fn(&str, &str) -> bool,
) -> Result<Vec<&'e ToolCall>, NotReported> {
    let unknown = &evidence.facts().unknown;
    if let (Some(known), None) = (&unknown.known_tools, &unknown.calls)
        && let Some(name) = names.iter().find(|name| !known.iter().any(|tool| is_named(tool, name)))
    {
        let tools = listed(&known.iter().map(String::as_str).collect::<Vec<_>>());
        return Err(NotReported(format!(
            "calls of `{name}` are not known: the agent reports no calls itself, and its MCP servers have no such tool (they have: {tools})"
        )));
    }
    known(evidence.tool_calls(), unknown.calls.as_deref(), NO_CALLS)
}

/// The number of calls of models.
pub(crate) fn llm_calls(evidence: &Evidence<'_>) -> Result<u64, NotReported> {
    let unknown = &evidence.facts().unknown;
    known(evidence.llm_calls(), unknown.calls.as_deref().or(unknown.model_calls.as_deref()), NO_CALLS)
}

/// The tokens.
pub(crate) fn usage(evidence: &Evidence<'_>) -> Result<Usage, NotReported> {
    known(evidence.usage(), evidence.facts().unknown.tokens.as_deref(), NO_USAGE)
}

/// The cost in US dollars.
pub(crate) fn cost_usd(evidence: &Evidence<'_>) -> Result<f64, NotReported> {
    known(evidence.cost_usd(), evidence.facts().unknown.cost.as_deref(), NO_COST)
}

/// How long the agent worked, in milliseconds: it is measured if the agent does not report it.
pub(crate) fn duration_ms(evidence: &Evidence<'_>) -> Result<f64, NotReported> {
    let duration = evidence.facts().duration_ms;
    known(duration.is_finite().then_some(duration), None, "the duration of the agent is not known")
}

/// How long a call of a tool took, in milliseconds.
pub(crate) fn call_duration_ms(call: &ToolCall) -> Result<f64, NotReported> {
    let why = || NotReported(format!("the agent did not report how long its call of `{}` took", call.tool));
    call.took_ms().ok_or_else(why)
}

/// A value that was reported completely; `unknown` is why it was not.
fn known<T>(value: Option<T>, unknown: Option<&str>, absent: &str) -> Result<T, NotReported> {
    match (value, unknown) {
        (Some(value), None) => Ok(value),
        (_, why) => Err(NotReported(why.unwrap_or(absent).to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_records::record::Usage;
    use evalsuite_schema::{Message, Role, ToolCall};

    use super::*;
    use crate::model::evidence::{Facts, UnknownWork};
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

    #[test]
    fn limits_are_inclusive() {
        assert_eq!(latency(&Latency { threshold: 12.5 }, &evidence(&[])).unwrap().state, ScoreState::Decided(1.0));
        assert_eq!(latency(&Latency { threshold: 12.4 }, &evidence(&[])).unwrap().state, ScoreState::Decided(0.0));
        assert_eq!(cost(&Cost { budget: 0.05 }, &evidence(&[])).unwrap().state, ScoreState::Decided(1.0));
    }

    #[test]
    fn cached_tokens_count_for_the_total_only() {
        let total = TokenUsage { max_total: Some(174.0), ..TokenUsage::default() };
        assert_eq!(token_usage(&total, &evidence(&[])).unwrap().state, ScoreState::Decided(0.0));
        let both = TokenUsage { max_input: Some(100.0), max_output: Some(50.0), ..TokenUsage::default() };
        assert_eq!(token_usage(&both, &evidence(&[])).unwrap().state, ScoreState::Decided(1.0));
        let spent = ExecutionMetrics { max_tokens: Some(150.0), ..ExecutionMetrics::default() };
        assert_eq!(execution_metrics(&spent, &evidence(&[])).unwrap().state, ScoreState::Decided(1.0));
    }

    #[test]
    fn what_was_not_reported_is_an_error() {
        let unreported = Evidence::new(Facts::default());
        assert!(cost(&Cost { budget: 9.0 }, &unreported).is_err());
        assert!(token_usage(&TokenUsage { max_total: Some(9.0), ..Default::default() }, &unreported).is_err());
        let metrics = |change: fn(&mut ExecutionMetrics)| {
            // The duration is measured.
            let mut config = ExecutionMetrics { max_duration_ms: Some(1.0), ..Default::default() };
            change(&mut config);
            execution_metrics(&config, &unreported)
        };
        assert_eq!(metrics(|_| ()).unwrap().state, ScoreState::Decided(1.0));
        let calls = metrics(|config| config.max_tool_calls = Some(9.0)).unwrap_err().to_string();
        assert!(calls.contains("`trial.tool_call`") && calls.contains("`trial.transcript_complete`"), "{calls}");
        for change in [
            (|config| config.min_llm_calls = Some(0.0)) as fn(&mut ExecutionMetrics),
            |config| config.max_tokens = Some(9.0),
            |config| config.max_cost_usd = Some(9.0),
            |config| config.target_exploration_ratio = Some(0.5),
        ] {
            assert!(metrics(change).is_err());
        }
        let unknown = Evidence::new(Facts { duration_ms: f64::NAN, ..Facts::default() });
        assert!(latency(&Latency { threshold: 9.0 }, &unknown).is_err());
    }

    #[test]
    fn calls_have_a_smallest_and_a_largest_number() {
        let config = ExecutionMetrics { min_tool_calls: Some(2.0), max_tool_calls: Some(3.0), ..Default::default() };
        let value = |calls: &[&str]| execution_metrics(&config, &evidence(calls)).unwrap().state;
        assert_eq!(value(&["a", "b"]), ScoreState::Decided(1.0));
        assert_eq!(value(&["a"]), ScoreState::Decided(0.5));
        assert_eq!(value(&["a"; 4]), ScoreState::Decided(0.5));
        let config = ExecutionMetrics { min_llm_calls: Some(2.0), ..Default::default() };
        let score = execution_metrics(&config, &evidence(&[])).unwrap();
        assert_eq!(score.assertions[0].text, "LLM calls 1 < 2 min");
    }

    #[test]
    fn the_share_of_exploring_calls_is_compared_with_its_target() {
        let config = ExecutionMetrics { target_exploration_ratio: Some(0.5), ..Default::default() };
        assert_eq!(execution_metrics(&config, &evidence(&["Read", "Edit"])).unwrap().state, ScoreState::Decided(1.0));
        assert_eq!(execution_metrics(&config, &evidence(&["Edit"])).unwrap().state, ScoreState::Decided(0.0));
        assert_eq!(execution_metrics(&config, &evidence(&[])).unwrap().state, ScoreState::Decided(0.0));
    }

    #[test]
    fn only_what_is_missing_is_an_error() {
        let unknown = UnknownWork { calls: Some("no spans".into()), ..UnknownWork::default() };
        let facts = Facts { transcript: Some(Vec::new()), cost_usd: Some(0.5), unknown, ..Facts::default() };
        let evidence = Evidence::new(facts);
        let why = NotReported("no spans".to_owned());
        assert_eq!(tool_calls(&evidence).map(drop), Err(why.clone()));
        assert_eq!(llm_calls(&evidence), Err(why));
        assert_eq!((cost_usd(&evidence), duration_ms(&evidence)), (Ok(0.5), Ok(0.0)));
        assert!(usage(&evidence).unwrap_err().to_string().contains("`trial.usage`"));
        let reported = Evidence::new(Facts { transcript: Some(Vec::new()), ..Facts::default() });
        assert_eq!((tool_calls(&reported).map(|calls| calls.len()), llm_calls(&reported)), (Ok(0), Ok(0)));
        assert!(cost_usd(&reported).unwrap_err().to_string().contains("`trial.cost_usd`"));
    }
}
