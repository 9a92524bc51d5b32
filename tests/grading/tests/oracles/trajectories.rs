//! `tool-trajectory`: every assignment of expected calls to calls is tried, names match by recursion, arguments are compared as text.

use evalsuite::__private::AgentWork;
use evalsuite::{Content, Message, Role, ToolCall};
use evalsuite_schema::json::{Object, Value, json};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::compared::{Expected, compare, for_each, graded, grader, of_guard};
use crate::decimal::{Decimal, Exact, mark, ratio, whole};

/// How arguments are compared.
#[derive(Debug, Clone, PartialEq)]
enum Match {
    Exact,
    Superset,
    Subset,
    Ignore,
    Paths(Vec<&'static str>),
}

/// An expected call.
#[derive(Debug, Clone)]
struct Item {
    tool: &'static str,
    args: Option<Value>,
    args_match: Option<Match>,
    ignore_args: Vec<&'static str>,
    limit: Option<u32>,
}

/// A call of the agent.
#[derive(Debug, Clone)]
struct Call {
    tool: &'static str,
    input: Option<Value>,
    duration: Option<u32>,
}

/// A grader and the calls that it sees.
#[derive(Debug, Clone)]
struct Input {
    mode: &'static str,
    args_match: Match,
    items: Vec<Item>,
    minimums: Vec<(&'static str, u64)>,
    maximums: Vec<(&'static str, u64)>,
    calls: Option<Vec<Call>>,
    min_score: Option<Decimal>,
    negate: bool,
}

fn leaf() -> impl Strategy<Value = Value> {
    let leaves = [json!(1), json!(1.0), json!(2), json!(0.5), json!("a"), json!("1"), json!(true), json!(null)];
    select(leaves.to_vec())
}

fn arguments() -> impl Strategy<Value = Value> {
    let value = leaf().prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec((select(vec!["x", "y"]), inner), 0..3).prop_map(object),
        ]
    });
    vec((select(vec!["x", "y", "id"]), value), 0..3).prop_map(object)
}

fn object(entries: Vec<(&'static str, Value)>) -> Value {
    let entries: Object = entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    Value::Object(entries)
}

fn input_of_call() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        6 => arguments().prop_map(Some),
        1 => Just(None),
        1 => Just(Some(Value::Null)),
        1 => arguments().prop_map(|arguments| Some(Value::from(format!(" {arguments} \n")))),
        1 => select(vec![json!("{"), json!([]), json!([{"x": 1}]), json!(1), json!("[1]"), json!("")]).prop_map(Some),
    ]
}

fn args_match() -> impl Strategy<Value = Match> {
    prop_oneof![
        3 => Just(Match::Exact),
        2 => Just(Match::Superset),
        2 => Just(Match::Subset),
        1 => Just(Match::Ignore),
        2 => vec(select(vec!["x", "y.x", "x.0", "y.1.x", "id"]), 1..3).prop_map(Match::Paths),
    ]
}

fn tool() -> impl Strategy<Value = &'static str> {
    select(vec!["a", "b", "ab", "abc", "é"])
}

fn name() -> impl Strategy<Value = &'static str> {
    select(vec!["a", "b", "ab", "abc", "a", "b", "*", "a*", "*b", "?", "a?", "*b*", "??*", "é", "**c"])
}

fn item(has_limits: bool) -> impl Strategy<Value = Item> {
    let args = prop_oneof![4 => arguments().prop_map(Some), 1 => Just(Some(json!("any"))), 2 => Just(None)];
    let ignore = prop_oneof![4 => Just(Vec::new()), 1 => vec(select(vec!["x", "?", "i*"]), 1..2)];
    let limit = if has_limits { option::weighted(0.3, 1..4_u32).boxed() } else { Just(None).boxed() };
    (name(), args, option::weighted(0.3, args_match()), ignore, limit)
        .prop_map(|(tool, args, args_match, ignore_args, limit)| Item { tool, args, args_match, ignore_args, limit })
}

fn call() -> impl Strategy<Value = Call> {
    let duration = option::weighted(0.7, 1..5_u32);
    (tool(), input_of_call(), duration).prop_map(|(tool, input, duration)| Call { tool, input, duration })
}

fn inputs() -> impl Strategy<Value = Input> {
    let mode = select(vec!["any_order", "in_order", "exact", "superset", "superset", "subset"]);
    mode.prop_flat_map(|mode| {
        let least = usize::from(mode == "in_order");
        let items = vec(item(matches!(mode, "in_order" | "exact")), least..5);
        let limits = || vec((name(), 0..3_u64), 0..3);
        // Calls often repeat expected ones, or most inputs would match nothing.
        let calls = option::weighted(0.95, vec((call(), any::<u8>()), 0..6));
        (items, limits(), limits(), calls, args_match(), option::weighted(0.2, mark()), prop::bool::weighted(0.2))
            .prop_map(move |(items, mut minimums, maximums, calls, args_match, min_score, negate)| {
                if minimums.is_empty() && maximums.is_empty() {
                    minimums.push(("a", 1));
                }
                let calls =
                    calls.map(|calls| calls.into_iter().map(|(call, pick)| likely(&items, call, pick)).collect());
                Input { mode, args_match, items, minimums, maximums, calls, min_score, negate }
            })
    })
}

/// The call, often with the tool and the arguments of an expected one.
fn likely(items: &[Item], call: Call, pick: u8) -> Call {
    let Some(item) = items.get(usize::from(pick) % 8) else { return call };
    let tool = if item.tool.contains(['*', '?']) { call.tool } else { item.tool };
    match &item.args {
        Some(Value::Object(arguments)) if pick < 200 => {
            Call { tool, input: Some(Value::Object(arguments.clone())), ..call }
        }
        _ => Call { tool, ..call },
    }
}

fn config(input: &Input) -> Value {
    let how = |how: &Match| match how {
        Match::Exact => json!("exact"),
        Match::Superset => json!("superset"),
        Match::Subset => json!("subset"),
        Match::Ignore => json!("ignore"),
        Match::Paths(paths) => json!({"paths": paths}),
    };
    let mut config = json!({"mode": input.mode, "args_match": how(&input.args_match)});
    if input.mode == "any_order" {
        config["minimums"] = json!(input.minimums);
        config["maximums"] = json!(input.maximums);
        return json!({"tool-trajectory": config});
    }
    let item = |item: &Item| {
        let mut written = json!({"tool": item.tool, "ignore_args": item.ignore_args});
        match &item.args {
            Some(Value::Object(arguments)) => written["args"] = json!({"object": arguments}),
            Some(_) => written["args"] = json!("any"),
            None => {}
        }
        if let Some(own) = &item.args_match {
            written["args_match"] = how(own);
        }
        if let Some(limit) = item.limit {
            written["max_duration_ms"] = json!(f64::from(limit));
        }
        written
    };
    config["expected"] = input.items.iter().map(item).collect();
    json!({"tool-trajectory": config})
}

fn work(calls: Option<&[Call]>) -> AgentWork {
    let transcript = calls.map(|calls| {
        let mut message = Message::new(Role::Assistant, Content::Text("done".to_owned()));
        let made = |call: &Call| {
            let mut made = ToolCall::new(call.tool);
            (made.input, made.duration_ms) = (call.input.clone(), call.duration.map(f64::from));
            made
        };
        message.tool_calls = calls.iter().map(made).collect();
        vec![message]
    });
    AgentWork { transcript, ..AgentWork::default() }
}

/// Whether a name with `*` and `?` means a tool.
fn named(pattern: &str, tool: &str) -> bool {
    let mut rest = pattern.chars();
    match rest.next() {
        None => tool.is_empty(),
        Some('*') => {
            (0..=tool.len()).filter(|end| tool.is_char_boundary(*end)).any(|end| named(rest.as_str(), &tool[end..]))
        }
        Some(wanted) => {
            let mut tool = tool.chars();
            tool.next().is_some_and(|found| (wanted == '?' || wanted == found) && named(rest.as_str(), tool.as_str()))
        }
    }
}

/// A value as text that is the same for equal values: sorted keys, and numbers by their value.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Number(number) => {
            let text = number.to_string();
            format!("#{}", text.strip_suffix(".0").unwrap_or(&text))
        }
        Value::String(text) => format!("{text:?}"),
        Value::Array(values) => values.iter().fold("[".to_owned(), |text, value| text + &canonical(value) + ",") + "]",
        Value::Object(object) => {
            let mut entries: Vec<String> =
                object.iter().map(|(key, value)| format!("{key:?}:{}", canonical(value))).collect();
            entries.sort();
            format!("{{{}}}", entries.join(","))
        }
        other => other.to_string(),
    }
}

fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, part| match value {
        Value::Object(object) => object.iter().find(|(key, _)| *key == part).map(|(_, value)| value),
        Value::Array(values) => values.iter().enumerate().find(|(index, _)| index.to_string() == part).map(|(_, v)| v),
        _ => None,
    })
}

/// The arguments of a call: none are `{}`, and text that is an object is that object.
fn arguments_of(call: &Call) -> Option<Value> {
    match &call.input {
        None | Some(Value::Null) => Some(json!({})),
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(object @ serde_json::Value::Object(_)) => Some(object.into()),
            _ => None,
        },
        Some(object @ Value::Object(_)) => Some(object.clone()),
        Some(_) => None,
    }
}

fn fits(input: &Input, item: &Item, call: &Call) -> bool {
    if !named(item.tool, call.tool) {
        return false;
    }
    let how = item.args_match.as_ref().unwrap_or(&input.args_match);
    let Some(wanted @ Value::Object(_)) = &item.args else { return true };
    if *how == Match::Ignore {
        return true;
    }
    let Some(found) = arguments_of(call) else { return false };
    let entries = |value: &Value| -> Vec<(String, String)> {
        let object = value.as_object().expect("arguments are an object");
        let is_compared = |key: &str| !item.ignore_args.iter().any(|pattern| named(pattern, key));
        object.iter().filter(|(key, _)| is_compared(key)).map(|(key, value)| (key.clone(), canonical(value))).collect()
    };
    let (wanted_entries, found_entries) = (entries(wanted), entries(&found));
    let within =
        |inner: &[(String, String)], outer: &[(String, String)]| inner.iter().all(|entry| outer.contains(entry));
    match how {
        Match::Exact => within(&wanted_entries, &found_entries) && within(&found_entries, &wanted_entries),
        Match::Superset => within(&wanted_entries, &found_entries),
        Match::Subset => within(&found_entries, &wanted_entries),
        Match::Ignore => true,
        Match::Paths(paths) => paths.iter().all(|path| {
            let is_ignored = |path: &str| {
                let first = path.split('.').next().unwrap_or_default();
                item.ignore_args.iter().any(|pattern| named(pattern, first))
            };
            let wanted = at(wanted, path).filter(|_| !is_ignored(path));
            wanted.is_none_or(|wanted| at(&found, path).is_some_and(|found| canonical(wanted) == canonical(found)))
        }),
    }
}

/// The largest number of items that get a call of their own: every assignment is tried.
fn largest(input: &Input, items: &[Item], calls: &[&Call]) -> usize {
    let Some((item, rest)) = items.split_first() else { return 0 };
    let without = largest(input, rest, calls);
    let with = (0..calls.len()).filter(|index| fits(input, item, calls[*index])).map(|index| {
        let mut left = calls.to_vec();
        left.remove(index);
        1 + largest(input, rest, &left)
    });
    with.chain([without]).max().unwrap_or(0)
}

/// Points and possible points of matched and missed items; `None` if the limited duration of a matched call is unknown.
fn points(matched: &[(&Item, Option<&Call>)]) -> Option<(usize, usize)> {
    let mut points = matched.iter().filter(|(_, call)| call.is_some()).count();
    let mut possible = 0;
    for (item, call) in matched {
        let Some(limit) = item.limit else { continue };
        possible += 1;
        if let Some(call) = call {
            points += usize::from(call.duration? <= limit);
        }
    }
    Some((points, possible))
}

/// Score, and whether the verdict is `fail` whatever the score; `None` if something is not known that it depends on.
fn score(input: &Input, calls: &[&Call]) -> Option<(Exact, bool)> {
    let items: &[Item] = &input.items;
    let share = |part: usize, all: usize| if all == 0 { whole(1) } else { ratio(part, all) };
    if input.mode != "any_order" && items.is_empty() {
        return Some((whole(i64::from(calls.is_empty())), false));
    }
    Some(match input.mode {
        "any_order" => {
            let count = |name: &str| calls.iter().filter(|call| named(name, call.tool)).count() as u64;
            let held = input.minimums.iter().filter(|(name, least)| count(name) >= *least).count()
                + input.maximums.iter().filter(|(name, most)| count(name) <= *most).count();
            (share(held, input.minimums.len() + input.maximums.len()), false)
        }
        "in_order" => {
            let mut rest = calls;
            let mut matched = Vec::new();
            for item in items {
                let found = rest.iter().position(|call| fits(input, item, call));
                matched.push((item, found.map(|index| rest[index])));
                rest = found.map_or(&[], |index| &rest[index + 1..]);
            }
            let (points, possible) = points(&matched)?;
            (share(points, items.len() + possible), false)
        }
        "exact" => {
            let at = |index: usize, item| calls.get(index).copied().filter(|call| fits(input, item, call));
            let matched: Vec<_> = items.iter().enumerate().map(|(index, item)| (item, at(index, item))).collect();
            let (points, possible) = points(&matched)?;
            (share(points, items.len().max(calls.len()) + possible), items.len() != calls.len())
        }
        "superset" => (share(largest(input, items, calls), items.len()), false),
        _ => {
            let allowed = calls.iter().filter(|call| items.iter().any(|item| fits(input, item, call))).count();
            (share(allowed, calls.len()), false)
        }
    })
}

/// Whether the arguments of a call cannot be read, but would be compared with expected ones.
fn has_unreadable(input: &Input) -> bool {
    let is_compared = |item: &Item, call: &Call| {
        let how = item.args_match.as_ref().unwrap_or(&input.args_match);
        named(item.tool, call.tool) && matches!(item.args, Some(Value::Object(_))) && *how != Match::Ignore
    };
    let is_unreadable = |call: &&Call| arguments_of(call).is_none();
    let mut unreadable = input.calls.iter().flatten().filter(is_unreadable);
    input.mode != "any_order" && unreadable.any(|call| input.items.iter().any(|item| is_compared(item, call)))
}

#[test]
fn trajectories_are_compared_as_by_trying_every_assignment() {
    for_each("tool-trajectory", inputs(), |input| {
        let mut grader = grader(config(input));
        grader.min_score = input.min_score.map(Decimal::float);
        grader.negate = input.negate;
        // What is not known is an error, also if the result is inverted.
        let known = input.calls.as_ref().and_then(|calls| score(input, &calls.iter().collect::<Vec<_>>()));
        let expected = match known {
            None => Expected::Error,
            Some((score, _)) if input.negate && score != whole(1) && has_unreadable(input) => {
                Expected::Decided(score, false)
            }
            Some((score, is_forced)) => of_guard(score, is_forced, input.min_score, input.negate),
        };
        compare(&graded(&grader, work(input.calls.as_deref())), &expected)
    });
}

/// Whether the items can be found in this order, for every choice of calls.
fn is_subsequence(input: &Input, items: &[Item], calls: &[Call]) -> bool {
    let Some((item, rest)) = items.split_first() else { return true };
    (0..calls.len()).any(|index| fits(input, item, &calls[index]) && is_subsequence(input, rest, &calls[index + 1..]))
}

#[test]
fn expected_calls_in_order_are_a_subsequence_of_the_calls() {
    for_each("tool-trajectory, subsequences", inputs(), |input| {
        let mut input = Input { mode: "in_order", min_score: None, negate: false, ..input.clone() };
        input.items.iter_mut().for_each(|item| item.limit = None);
        let Some(calls) = &input.calls else { return Ok(()) };
        if input.items.is_empty() {
            return Ok(());
        }
        let record = graded(&grader(config(&input)), work(Some(calls)));
        let passed = record.verdict.is_some_and(|verdict| verdict.is_pass());
        let expected = is_subsequence(&input, &input.items, calls);
        if passed == expected { Ok(()) } else { Err(format!("a subsequence: {expected}, the product: {passed}")) }
    });
}
