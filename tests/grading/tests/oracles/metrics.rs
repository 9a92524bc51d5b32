//! `latency`, `cost`, `token-usage` and `execution-metrics`, with fractions.

use evalsuite::__private::AgentWork;
use evalsuite::{Content, Message, Role, ToolCall, Usage};
use evalsuite_schema::json::{Value, json};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::compared::{Expected, compare, for_each, graded, grader, of_guard};
use crate::decimal::{Decimal, Exact, mark, ratio, share};

/// What an agent reports.
#[derive(Debug, Clone)]
struct Work {
    tools: Option<Vec<&'static str>>,
    llm_calls: Option<u64>,
    usage: Option<[u64; 3]>,
    cost: Option<Decimal>,
    duration: Decimal,
}

/// Keys of `execution-metrics` that are compared with a number.
const LIMITS: [&str; 7] = [
    "min_tool_calls",
    "max_tool_calls",
    "min_llm_calls",
    "max_llm_calls",
    "max_tokens",
    "max_cost_usd",
    "max_duration_ms",
];

fn amount() -> impl Strategy<Value = Decimal> {
    prop_oneof![
        (0..50_i64, 0..3_u32).prop_map(|(units, places)| Decimal { units, places }),
        (0..100_000_i64, 0..5_u32).prop_map(|(units, places)| Decimal { units, places }),
    ]
}

fn work() -> impl Strategy<Value = Work> {
    let tool = select(vec!["read", "Read", "grep", "WebFetch", "write", "Bash", "READ"]);
    let usage = [0..30_u64, 0..30_u64, 0..30_u64];
    (
        option::weighted(0.9, vec(tool, 0..6)),
        option::of(0..5_u64),
        option::weighted(0.9, usage),
        option::weighted(0.9, amount()),
        amount(),
    )
        .prop_map(|(tools, llm_calls, usage, cost, duration)| Work { tools, llm_calls, usage, cost, duration })
}

/// A limit, often one of the numbers that are reported.
fn limit() -> impl Strategy<Value = Option<(Decimal, u8)>> {
    option::weighted(0.4, (amount(), any::<u8>()))
}

fn agent_work(work: &Work) -> AgentWork {
    let transcript = work.tools.as_ref().map(|tools| {
        let mut message = Message::new(Role::Assistant, Content::Text("done".to_owned()));
        message.tool_calls = tools.iter().map(|tool| ToolCall::new(*tool)).collect();
        message.llm_call_count = work.llm_calls;
        vec![message, Message::text(Role::User, "more"), Message::text(Role::Assistant, "done")]
    });
    AgentWork {
        transcript,
        usage: work.usage.map(|[input, output, cached]| Usage::new(input, output).with_cached(cached)),
        cost_usd: work.cost.map(Decimal::float),
        duration_ms: work.duration.float(),
        ..AgentWork::default()
    }
}

fn count(number: u64) -> Exact {
    Exact::from_integer(number.into())
}

/// The reported number that a key is about.
fn reported(work: &Work, key: &str) -> Option<Exact> {
    match key {
        "min_tool_calls" | "max_tool_calls" => work.tools.as_ref().map(|tools| count(tools.len() as u64)),
        // Two messages of the assistant, one of which may state how many calls there were for it.
        "min_llm_calls" | "max_llm_calls" => work.tools.as_ref().map(|_| count(work.llm_calls.unwrap_or(1) + 1)),
        "max_tokens" => work.usage.map(|[input, output, _]| count(input + output)),
        "max_input" => work.usage.map(|[input, ..]| count(input)),
        "max_output" => work.usage.map(|[_, output, _]| count(output)),
        "max_total" => work.usage.map(|usage| count(usage.iter().sum())),
        "max_cost_usd" => work.cost.map(Decimal::exact),
        _ => Some(work.duration.exact()),
    }
}

/// Whether a limit is kept.
fn holds(work: &Work, key: &str, limit: Decimal) -> bool {
    let Some(number) = reported(work, key) else { return false };
    if key.starts_with("min") { number >= limit.exact() } else { number <= limit.exact() }
}

/// The limit, or in some cases exactly what was reported, or next to it.
fn chosen(work: &Work, key: &str, (limit, pick): (Decimal, u8)) -> Decimal {
    let own = match key {
        "max_cost_usd" => work.cost,
        "max_duration_ms" => Some(work.duration),
        _ => reported(work, key)
            .and_then(|number| number.to_integer().try_into().ok())
            .map(|units| Decimal { units, places: 0 }),
    };
    match (own, pick % 4) {
        (Some(own), 0) => own,
        (Some(own), 1) => Decimal { units: (own.units + i64::from(pick % 3) - 1).max(0), ..own },
        _ => limit,
    }
}

#[test]
fn single_limits_are_compared_as_fractions() {
    for_each(
        "latency and cost",
        (work(), amount(), any::<u8>(), any::<[bool; 2]>()),
        |(work, limit, pick, [is_cost, negate])| {
            let (key, kind, name) =
                if *is_cost { ("max_cost_usd", "cost", "budget") } else { ("max_duration_ms", "latency", "threshold") };
            let limit = chosen(work, key, (*limit, *pick));
            let mut grader = grader(json!({kind: {name: limit.float()}}));
            grader.negate = *negate;
            let expected = match reported(work, key) {
                None => Expected::Error,
                Some(_) => Expected::passed(holds(work, key, limit) != *negate),
            };
            compare(&graded(&grader, agent_work(work)), &expected)
        },
    );
}

#[test]
fn all_limits_of_tokens_hold() {
    for_each("token-usage", (work(), [limit(), limit(), limit()]), |(work, limits)| {
        let mut config = json!({});
        let mut passes = true;
        for (key, limit) in ["max_input", "max_output", "max_total"].into_iter().zip(limits) {
            let Some(limit) = limit else { continue };
            let limit = chosen(work, key, *limit);
            config[key] = json!(limit.float());
            passes &= holds(work, key, limit);
        }
        let expected = if work.usage.is_none() { Expected::Error } else { Expected::passed(passes) };
        compare(&graded(&grader(json!({"token-usage": config})), agent_work(work)), &expected)
    });
}

/// The share of exploring calls, if there are calls.
fn exploring(work: &Work) -> Option<Exact> {
    let names = "read grep glob search list Read Grep Glob WebSearch WebFetch";
    let tools = work.tools.as_ref().filter(|tools| !tools.is_empty())?;
    let found = tools.iter().filter(|tool| names.split(' ').any(|name| name == **tool)).count();
    Some(ratio(found, tools.len()))
}

#[test]
fn the_share_of_kept_limits_is_a_fraction() {
    let limits = (limit(), limit(), limit(), limit(), limit(), limit(), limit());
    let ratio_keys = option::of((share(), option::of(share())));
    let inputs = (work(), limits, ratio_keys, option::weighted(0.3, mark()), prop::bool::weighted(0.2));
    for_each("execution-metrics", inputs, |(work, limits, target, min_score, negate)| {
        let limits = [limits.0, limits.1, limits.2, limits.3, limits.4, limits.5, limits.6];
        let mut config: Value = json!({});
        let (mut kept, mut all, mut lacks) = (0, 0, false);
        for (key, limit) in LIMITS.into_iter().zip(limits) {
            let Some(limit) = limit else { continue };
            let limit = chosen(work, key, limit);
            config[key] = json!(limit.float());
            all += 1;
            kept += usize::from(holds(work, key, limit));
            lacks |= reported(work, key).is_none();
        }
        if let Some((target, tolerance)) = target {
            config["target_exploration_ratio"] = json!(target.float());
            if let Some(tolerance) = tolerance {
                config["exploration_tolerance"] = json!(tolerance.float());
            }
            let tolerance = tolerance.unwrap_or(Decimal { units: 2, places: 1 }).exact();
            let distance = exploring(work).map(|share| share - target.exact());
            let within = distance.is_some_and(|distance| distance <= tolerance && distance >= -tolerance);
            all += 1;
            kept += usize::from(within);
            lacks |= work.tools.is_none();
        }
        if all == 0 {
            return Ok(());
        }
        let mut grader = grader(json!({"execution-metrics": config}));
        grader.min_score = min_score.map(Decimal::float);
        grader.negate = *negate;
        let score = ratio(kept, all);
        // What is not reported is an error, also if the result is inverted.
        let expected = if lacks { Expected::Error } else { of_guard(score, false, *min_score, *negate) };
        compare(&graded(&grader, agent_work(work)), &expected)
    });
}
