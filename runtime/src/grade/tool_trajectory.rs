//! The `tool-trajectory` grader: compares the agent's tool calls with the expected ones.
//!
//! A largest assignment of expected calls to calls, each of which is used once (maximum bipartite matching with augmenting paths).
//!
//! Hand-written: 30 lines, for which every user would compile a graph library such as `petgraph`.

use std::borrow::Cow;

use evalsuite_records::record::Assertion;
use evalsuite_schema::decimal::{at_most, shown_beside};
use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::grader::{Args, ArgsMatch, ExpectedCall, ToolTrajectory, TrajectoryMode};
use evalsuite_schema::{Object, ToolCall, Value, is_tool_named};

use crate::grade::assertion_text::{in_text, shorten, show};
use crate::grade::grader_record::GraderResult;
use crate::grade::reported_work::{NotReported, call_duration_ms, calls_of_tools, knows_all_tools, tool_calls};
use crate::model::evidence::Evidence;
use crate::model::score::{Score, ScoreState};
use crate::record::trial_statistics::ratio;

pub(crate) fn grade(config: &ToolTrajectory, evidence: &Evidence<'_>) -> Result<GraderResult, NotReported> {
    let calls = known_calls(config, evidence)?;
    let points = |possible| Points { possible, knows_all_tools: knows_all_tools(evidence), ..Points::default() };
    let mut result: GraderResult = match config.mode {
        TrajectoryMode::AnyOrder => {
            any_order(config, &calls, points(config.minimums.len() + config.maximums.len()))?.into()
        }
        mode if config.expected.is_empty() => no_calls(mode, &calls).into(),
        TrajectoryMode::InOrder => in_order(config, &calls, points(config.expected.len()))?.into(),
        TrajectoryMode::Exact => exact(config, &calls, points(config.expected.len().max(calls.len())))?,
        TrajectoryMode::Superset => superset(config, &calls, points(config.expected.len()))?.into(),
        TrajectoryMode::Subset => subset(config, &calls, points(calls.len()))?.into(),
    };
    // A call that cannot be read could be one that must not be made.
    result.has_blind_member = result.score.state != ScoreState::Decided(1.0)
        && calls
            .iter()
            .any(|call| call.arguments().is_none() && config.expected.iter().any(|item| compares(config, item, call)));
    Ok(result)
}

/// Whether the arguments of a call matter for whether it is the expected one.
fn compares(config: &ToolTrajectory, item: &ExpectedCall, call: &ToolCall) -> bool {
    let how = item.args_match.as_ref().unwrap_or(&config.args_match);
    is_tool_named(&call.tool, &item.tool) && matches!(item.args, Some(Args::Object(_))) && *how != ArgsMatch::Ignore
}

/// The calls, if what is known of them is enough for the mode.
fn known_calls<'e>(config: &ToolTrajectory, evidence: &'e Evidence<'_>) -> Result<Vec<&'e ToolCall>, NotReported> {
    let names: Vec<&str> = match config.mode {
        TrajectoryMode::AnyOrder => {
            config.minimums.iter().chain(&config.maximums).map(|(name, _)| name.as_str()).collect()
        }
        TrajectoryMode::InOrder | TrajectoryMode::Superset if !config.expected.is_empty() => {
            config.expected.iter().map(|item| item.tool.as_str()).collect()
        }
        // Without other calls.
        _ => return tool_calls(evidence),
    };
    calls_of_tools(evidence, &names, is_tool_named)
}

/// Points of one comparison, with what they were given for.
#[derive(Default)]
struct Points {
    points: usize,
    possible: usize,
    assertions: Vec<Assertion>,
    /// Whether the agent has no other tools than those whose calls are known.
    knows_all_tools: bool,
    /// What is missing first of what the expectations are about.
    unknown: Option<NotReported>,
}

impl Points {
    /// Adds an assertion, which earns a point if it passed.
    fn add(&mut self, assertion: Assertion) {
        self.points += usize::from(assertion.passed);
        self.assertions.push(assertion);
    }

    /// Notes that calls of unknown tools could contradict what was found about the calls of a name.
    fn doubt(&mut self, name: &str) {
        if !self.knows_all_tools && name.contains(['*', '?']) {
            self.unknown.get_or_insert_with(|| NotReported::of_pattern(name));
        }
    }

    /// Adds the failed assertion about an expected call; `call` is the one in its place. It cannot earn the point for its duration.
    fn miss(&mut self, text: String, item: &ExpectedCall, call: Option<&ToolCall>) {
        self.doubt(&item.tool);
        self.possible += usize::from(item.max_duration_ms.is_some());
        let expected = match &item.args {
            Some(Args::Object(arguments)) => call_text(&item.tool, Some(&Value::Object(arguments.clone()))),
            Some(Args::Any) | None => item.tool.clone(),
        };
        let actual = match call {
            None => "no such call".to_owned(),
            // The name alone would be what the assertion says already.
            Some(ToolCall { tool, input: None, .. }) => shorten(&format!("{tool} without arguments")),
            Some(call) => call_text(&call.tool, call.input.as_ref()),
        };
        self.add(Assertion::new(text, false).with_expected(expected).with_actual(actual));
    }

    /// Adds the assertion about a call that matched `item`, and the one about its duration.
    fn hit(&mut self, text: String, item: &ExpectedCall, call: &ToolCall) {
        self.add(Assertion::new(text, true));
        let Some(limit) = item.max_duration_ms else { return };
        self.possible += 1;
        let duration = match call_duration_ms(call) {
            Ok(duration) => duration,
            Err(unknown) => {
                self.unknown.get_or_insert(unknown);
                return;
            }
        };
        let held = at_most(duration, limit);
        let verb = if held { "completed in" } else { "took" };
        let (duration, limit) = (shown_beside(duration, limit), show(limit));
        let text = format!("{} {verb} {duration}ms (max: {limit}ms)", item.tool);
        self.add(
            Assertion::new(text, held)
                .with_expected(format!("at most {limit} ms"))
                .with_actual(format!("{duration} ms")),
        );
    }

    fn score(self) -> Result<Score, NotReported> {
        if let Some(unknown) = self.unknown {
            return Err(unknown);
        }
        let value = if self.possible == 0 { 1.0 } else { ratio(self.points, self.possible) };
        Ok(Score { assertions: self.assertions, ..Score::new(value) })
    }
}

fn no_calls(mode: TrajectoryMode, calls: &[&ToolCall]) -> Score {
    let held = calls.is_empty();
    let text = match mode {
        TrajectoryMode::Subset if !held => format!("{} unexpected tool call(s) with empty allowed list", calls.len()),
        _ if !held => format!("Expected no tool calls, got {}", calls.len()),
        TrajectoryMode::Superset => "No expected tools specified".to_owned(),
        TrajectoryMode::Subset => "No tool calls and no expected tools".to_owned(),
        _ => "No tool sequence specified".to_owned(),
    };
    Score::from_assertions([Assertion::new(text, held).with_expected("no calls").with_actual(tool_names(calls))])
}

fn tool_names(calls: &[&ToolCall]) -> String {
    let names: Vec<&str> = calls.iter().map(|call| call.tool.as_str()).collect();
    shorten(&names.join(", "))
}

fn any_order(config: &ToolTrajectory, calls: &[&ToolCall], mut points: Points) -> Result<Score, NotReported> {
    let count = |tool: &str| calls.iter().filter(|call| is_tool_named(&call.tool, tool)).count() as u64;
    for (limits, is_least) in [(&config.minimums, true), (&config.maximums, false)] {
        let (demand, sense) = if is_least { ("required >=", "at least") } else { ("allowed <=", "at most") };
        for (tool, limit) in limits {
            let count = count(tool);
            let held = if is_least { count >= *limit } else { count <= *limit };
            // Further calls could mend a smallest number, and break a largest one.
            if held != is_least {
                points.doubt(tool);
            }
            let assertion = Assertion::new(format!("{tool}: called {count} times ({demand}{limit})"), held);
            let expected = format!("{sense} {}", counted(*limit, "call"));
            points.add(assertion.with_expected(expected).with_actual(counted(count, "call")));
        }
    }
    points.score()
}

fn in_order(config: &ToolTrajectory, calls: &[&ToolCall], mut points: Points) -> Result<Score, NotReported> {
    let mut next = 0;
    for (index, item) in config.expected.iter().enumerate() {
        let rest = calls.get(next..).unwrap_or_default();
        match rest.iter().position(|call| matches(config, item, call)) {
            Some(offset) => {
                let position = next + offset;
                points.hit(format!("Found {} at position {position}", item.tool), item, calls[position]);
                next = position + 1;
            }
            None => {
                let same_name = rest.iter().position(|call| is_tool_named(&call.tool, &item.tool));
                let text = match same_name {
                    Some(offset) => {
                        let found = next + offset;
                        format!("Expected {} at position {index}: tool found at {found} but args mismatch", item.tool)
                    }
                    None => format!("Expected {} at position {index}, not found in remaining trace", item.tool),
                };
                points.miss(text, item, same_name.map(|offset| rest[offset]));
                // The search went to the end: nothing is left for the items after it.
                next = calls.len();
            }
        }
    }
    points.score()
}

fn exact(config: &ToolTrajectory, calls: &[&ToolCall], mut points: Points) -> Result<GraderResult, NotReported> {
    let expected = &config.expected;
    let differ = expected.len() != calls.len();
    if differ {
        let text = format!("Expected {} tool calls, got {}", expected.len(), calls.len());
        let wanted: Vec<&str> = expected.iter().map(|item| item.tool.as_str()).collect();
        let assertion = Assertion::new(text, false).with_expected(shorten(&wanted.join(", ")));
        points.add(assertion.with_actual(tool_names(calls)));
    }
    for (index, item) in expected.iter().enumerate() {
        match calls.get(index) {
            Some(call) if matches(config, item, call) => {
                points.hit(format!("Position {index}: {}", item.tool), item, call);
            }
            call => {
                let text = match call {
                    Some(call) if is_tool_named(&call.tool, &item.tool) => {
                        format!("Position {index}: {} args mismatch", item.tool)
                    }
                    Some(call) => format!("Position {index}: expected {}, got {}", item.tool, in_text(&call.tool)),
                    None => format!("Position {index}: expected {}, got nothing", item.tool),
                };
                points.miss(text, item, call.copied());
            }
        }
    }
    Ok(GraderResult { forced_fail: differ, ..points.score()?.into() })
}

fn superset(config: &ToolTrajectory, calls: &[&ToolCall], mut points: Points) -> Result<Score, NotReported> {
    let fits = |item| (0..calls.len()).filter(|index| matches(config, item, calls[*index])).collect();
    let fits: Vec<Vec<usize>> = config.expected.iter().map(fits).collect();
    let assigned = assign(&fits, calls.len());
    for ((item, assigned_to), fits) in config.expected.iter().zip(&assigned).zip(&fits) {
        if let Some(position) = assigned_to {
            points.hit(format!("Found {} at position {position}", item.tool), item, calls[*position]);
            continue;
        }
        let text = format!("Expected {} not found in actual trajectory", item.tool);
        // A call of that name which is no other expected one shows what is different.
        let is_left = |(index, call): &(usize, &&ToolCall)| {
            !assigned.contains(&Some(*index)) && is_tool_named(&call.tool, &item.tool)
        };
        let left = calls.iter().enumerate().find(is_left).map(|(_, call)| *call);
        points.miss(text, item, left.or_else(|| fits.first().map(|index| calls[*index])));
        if let Some(assertion) = points.assertions.last_mut().filter(|_| !fits.is_empty()) {
            assertion.evidence = Some("each call that matches is another expected call".to_owned());
        }
    }
    points.score()
}

fn subset(config: &ToolTrajectory, calls: &[&ToolCall], mut points: Points) -> Result<Score, NotReported> {
    if calls.is_empty() {
        return Ok(Score::pass().with_assertion(Assertion::new("No actual tool calls (trivially a subset)", true)));
    }
    for (index, call) in calls.iter().enumerate() {
        let allowed = config.expected.iter().any(|item| matches(config, item, call));
        let verb = if allowed { "is" } else { "is not" };
        let text = format!("Position {index}: {} {verb} in allowed set", in_text(&call.tool));
        points.add(Assertion::new(text, allowed).with_actual(call_text(&call.tool, call.input.as_ref())));
    }
    points.score()
}

fn matches(config: &ToolTrajectory, item: &ExpectedCall, call: &ToolCall) -> bool {
    is_tool_named(&call.tool, &item.tool) && arguments_match(config, item, call)
}

fn arguments_match(config: &ToolTrajectory, item: &ExpectedCall, call: &ToolCall) -> bool {
    let Some(Args::Object(expected)) = &item.args else { return true };
    let how = item.args_match.as_ref().unwrap_or(&config.args_match);
    if *how == ArgsMatch::Ignore {
        return true;
    }
    let Some(actual) = call.arguments() else { return false };
    let (expected, actual) = (&compared(expected, item), &compared(&actual, item));
    let agree = |key: &String, value: &Value, other: &Object| other.get(key).is_some_and(|other| value.is_same(other));
    match how {
        ArgsMatch::Ignore => true,
        ArgsMatch::Exact => {
            actual.len() == expected.len() && expected.iter().all(|(key, value)| agree(key, value, actual))
        }
        ArgsMatch::Superset => expected.iter().all(|(key, value)| agree(key, value, actual)),
        ArgsMatch::Subset => actual.iter().all(|(key, value)| agree(key, value, expected)),
        ArgsMatch::Paths(paths) => paths.iter().all(|path| match ArgsMatch::find(expected, path) {
            None => true,
            Some(value) => ArgsMatch::find(actual, path).is_some_and(|actual| value.is_same(actual)),
        }),
    }
}

/// The arguments without those that the item ignores.
fn compared<'a>(arguments: &'a Object, item: &ExpectedCall) -> Cow<'a, Object> {
    if item.ignore_args.is_empty() {
        return Cow::Borrowed(arguments);
    }
    let kept = arguments.iter().filter(|(key, _)| !item.ignore_args.iter().any(|name| is_tool_named(key, name)));
    Cow::Owned(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
}

fn call_text(tool: &str, input: Option<&Value>) -> String {
    match input {
        Some(input) => shorten(&format!("{tool} {input}")),
        None => shorten(tool),
    }
}

/// The index of the call that each expected call is assigned to. `fits[item]` are the indices of the calls that it matches, in the order
/// in which they are preferred.
fn assign(fits: &[Vec<usize>], calls: usize) -> Vec<Option<usize>> {
    let mut item_of: Vec<Option<usize>> = vec![None; calls];
    for item in 0..fits.len() {
        make_room(item, fits, &mut item_of);
    }
    let mut call_of = vec![None; fits.len()];
    for (call, item) in item_of.into_iter().enumerate() {
        if let Some(item) = item {
            call_of[item] = Some(call);
        }
    }
    call_of
}

/// Assigns an item to a call, if need be by assigning other items to other calls: searches breadth first for a call that is free.
fn make_room(item: usize, fits: &[Vec<usize>], item_of: &mut [Option<usize>]) {
    // The item through which the search reached a call.
    let mut reached_from: Vec<Option<usize>> = vec![None; item_of.len()];
    let mut queue = std::collections::VecDeque::from([item]);
    while let Some(current) = queue.pop_front() {
        for &call in &fits[current] {
            if reached_from[call].is_some() {
                continue;
            }
            reached_from[call] = Some(current);
            match item_of[call] {
                Some(other) => queue.push_back(other),
                None => return reassign(call, item, &reached_from, item_of),
            }
        }
    }
}

/// Assigns the free call to the item that reached it, the call that this item had to the item that reached that one, and so on.
fn reassign(free: usize, last: usize, reached_from: &[Option<usize>], item_of: &mut [Option<usize>]) {
    let mut call = free;
    while let Some(item) = reached_from[call] {
        let before = item_of.iter().position(|assigned| *assigned == Some(item));
        item_of[call] = Some(item);
        match before {
            Some(before) if item != last => call = before,
            _ => return,
        }
    }
}

/// What the graders of this file are to probes.
#[cfg(feature = "probe")]
mod to_probes {
    use evalsuite_schema::{EmptyProbe, Grader};

    use super::*;
    use crate::grade::probed::{GraderClass, Passing, Probed, a_tool};

    /// Most calls of one tool in a reference.
    const MOST_CALLS: u64 = 64;

    impl Probed for ToolTrajectory {
        /// A trajectory may only say how many calls are too many. A maximum of 0 forbids a tool.
        fn class(&self, _: fn(&Grader) -> GraderClass) -> GraderClass {
            let only_limits = self.mode == TrajectoryMode::AnyOrder
                && self.minimums.is_empty()
                && self.maximums.iter().all(|(_, most)| *most > 0);
            if only_limits { GraderClass::Limit } else { GraderClass::Plain }
        }

        fn expected_calls(&self) -> Vec<ToolCall> {
            if self.mode == TrajectoryMode::AnyOrder {
                let times = |(tool, least): &(String, u64)| {
                    (0..(*least).min(MOST_CALLS)).map(|_| ToolCall::new(a_tool(tool))).collect::<Vec<_>>()
                };
                return self.minimums.iter().flat_map(times).collect();
            }
            let call = |expected: &ExpectedCall| {
                let input = match &expected.args {
                    Some(Args::Object(object)) => object.clone(),
                    Some(Args::Any) | None => Object::new(),
                };
                let mut call = ToolCall::new(a_tool(&expected.tool)).with_input(Value::Object(input));
                call.duration_ms = expected.max_duration_ms.map(|_| 0.0);
                call
            };
            self.expected.iter().map(call).collect()
        }

        fn advice(&self, _grader: &Grader, passing: &Passing<'_>) -> Option<String> {
            let text = match self.mode {
                TrajectoryMode::Subset if passing.has(EmptyProbe::Silent) => {
                    "no calls at all are a `subset`: `superset`, `in_order` or `exact` would distinguish"
                }
                TrajectoryMode::AnyOrder if self.minimums.is_empty() => {
                    "the grader only forbids calls: add `minimums`, or a grader of the answer"
                }
                TrajectoryMode::AnyOrder if self.minimums.iter().all(|(_, least)| *least == 0) => {
                    "a minimum of 0 is always met: write at least 1, or add a grader of the answer"
                }
                _ if self.expected.is_empty() && self.minimums.is_empty() => {
                    "the grader asks for no calls: add a grader of the answer"
                }
                _ if passing.has(EmptyProbe::Busy) => {
                    "only the names of tools are compared: add `args` to the expected calls, or a grader of the answer"
                }
                _ => return None,
            };
            Some(text.to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;
    use evalsuite_schema::{Message, Role};

    use super::{assign, *};
    use crate::model::evidence::{Facts, UnknownWork};

    fn run(config: Value, calls: Value) -> (ScoreState, bool) {
        let mut message = Message::text(Role::Assistant, "done");
        message.tool_calls = evalsuite_schema::json::from_value(calls).unwrap();
        let evidence = Evidence::new(Facts { transcript: Some(vec![message]), ..Facts::default() });
        let graded = grade(&evalsuite_schema::json::from_value(config).unwrap(), &evidence).unwrap();
        (graded.score.state, graded.forced_fail)
    }

    fn names(names: &[&str]) -> Value {
        names.iter().map(|name| json!({"tool": name})).collect()
    }

    #[test]
    fn the_vectors_of_the_specification_hold() {
        let abc = names(&["a", "b", "c"]);
        let exact = run(json!({"mode": "exact", "expected": names(&["a", "b"])}), abc);
        assert_eq!(exact, (ScoreState::Decided(2.0 / 3.0), true));
        let calls = json!([{"tool": "a", "input": {"x": 2}}, {"tool": "a", "input": {"x": 1}}]);
        let later = json!({"mode": "in_order", "expected": [{"tool": "a", "args": {"object": {"x": 1}}}]});
        assert_eq!(run(later, calls), (ScoreState::Decided(1.0), false));
        let gap = json!({"mode": "in_order", "expected": names(&["a", "z", "b"])});
        assert_eq!(run(gap, names(&["a", "b"])), (ScoreState::Decided(1.0 / 3.0), false));
        let twice = json!({"mode": "superset", "expected": names(&["a", "a"])});
        assert_eq!(run(twice, names(&["a"])), (ScoreState::Decided(0.5), false));
        let reused = json!({"mode": "subset", "expected": names(&["a"])});
        assert_eq!(run(reused, names(&["a", "a", "b"])), (ScoreState::Decided(2.0 / 3.0), false));
    }

    #[test]
    fn a_call_that_cannot_be_read_is_not_taken_for_another_one() {
        let is_blind = |config: Value, input: Value| {
            let mut message = Message::text(Role::Assistant, "done");
            message.tool_calls = vec![ToolCall::new("pay").with_input(input)];
            let evidence = Evidence::new(Facts { transcript: Some(vec![message]), ..Facts::default() });
            grade(&evalsuite_schema::json::from_value(config).unwrap(), &evidence).unwrap().has_blind_member
        };
        for mode in ["in_order", "exact", "superset", "subset"] {
            let config = |item: Value| json!({"mode": mode, "expected": [item]});
            let paid = || json!({"tool": "p*", "args": {"object": {"amount": 100}}});
            for cut in [json!("{\"amount\": 100"), json!([100])] {
                assert!(is_blind(config(paid()), cut), "{mode}");
            }
            assert!(!is_blind(config(paid()), json!({"amount": 99})), "{mode}");
            assert!(!is_blind(config(json!({"tool": "pay"})), json!("{")), "{mode}");
            assert!(
                !is_blind(config(json!({"tool": "ask", "args": {"object": {"amount": 100}}})), json!("{")),
                "{mode}"
            );
        }
    }

    fn expected(items: &[(&str, Value)]) -> Value {
        items.iter().map(|(tool, args)| json!({"tool": tool, "args": {"object": args}})).collect()
    }

    fn graded(config: Value, calls: Value) -> Vec<Assertion> {
        let mut message = Message::text(Role::Assistant, "done");
        message.tool_calls = evalsuite_schema::json::from_value(calls).unwrap();
        let evidence = Evidence::new(Facts { transcript: Some(vec![message]), ..Facts::default() });
        grade(&evalsuite_schema::json::from_value(config).unwrap(), &evidence).unwrap().score.assertions
    }

    #[test]
    fn expected_calls_are_assigned_so_that_most_of_them_are_found() {
        let calls = json!([{"tool": "search", "input": {"q": "a"}}, {"tool": "search", "input": {"q": "b"}}]);
        let any = json!({"tool": "search"});
        let one = json!({"tool": "search", "args": {"object": {"q": "a"}}});
        let pattern = json!({"tool": "s*"});
        for items in [[&any, &one], [&one, &any], [&pattern, &one], [&one, &pattern]] {
            let config = json!({"mode": "superset", "expected": items});
            assert_eq!(run(config, calls.clone()).0, ScoreState::Decided(1.0), "{items:?}");
        }
        let config = json!({"mode": "superset", "expected": [any, one, pattern]});
        let told = graded(config, calls);
        assert_eq!(told.iter().filter(|assertion| assertion.passed).count(), 2);
        let missing = told.iter().find(|assertion| !assertion.passed).unwrap();
        assert_eq!(missing.text, "Expected s* not found in actual trajectory");
        assert_eq!(missing.evidence.as_deref(), Some("each call that matches is another expected call"));
    }

    #[test]
    fn arguments_are_what_they_say() {
        let config = |args: Value| json!({"mode": "superset", "expected": expected(&[("t", args)])});
        let value = |args: Value, call: Value| run(config(args), json!([call])).0;
        let passes = ScoreState::Decided(1.0);
        for none in [json!({"tool": "t"}), json!({"tool": "t", "input": null}), json!({"tool": "t", "input": {}})] {
            assert_eq!(value(json!({}), none.clone()), passes, "{none}");
            assert_ne!(value(json!({"x": 1}), none.clone()), passes, "{none}");
        }
        assert_eq!(value(json!({"x": [1, null]}), json!({"tool": "t", "input": "{\"x\": [1.0, null]}"})), passes);
        for other in [
            json!("{\"x\": 1"),
            json!("{\"x\": 2, \"x\": 1}"),
            json!("x"),
            json!([["x", 1]]),
            json!("[1]"),
            json!("\"{}\""),
        ] {
            assert_ne!(value(json!({"x": 1}), json!({"tool": "t", "input": other})), passes, "{other}");
        }
    }

    #[test]
    fn an_empty_list_means_no_calls() {
        for mode in ["exact", "superset", "subset"] {
            let config = json!({"mode": mode});
            assert_eq!(run(config.clone(), json!([])).0, ScoreState::Decided(1.0), "{mode}");
            assert_eq!(run(config, names(&["a"])).0, ScoreState::Decided(0.0), "{mode}");
        }
    }

    #[test]
    fn arguments_are_compared_as_the_item_says() {
        let passes = |how: Value, input: Value| {
            let item = json!({"tool": "a", "args": {"object": {"x": 1, "y": {"z": [1, 2]}}}, "args_match": how});
            run(json!({"mode": "exact", "expected": [item]}), json!([{"tool": "a", "input": input}])).0
                == ScoreState::Decided(1.0)
        };
        let same = json!({"y": {"z": [1, 2.0]}, "x": 1.0});
        assert!(passes(json!("exact"), same.clone()));
        assert!(!passes(json!("exact"), json!({"x": 1, "y": {"z": [1, 2]}, "more": 0})));
        assert!(passes(json!("superset"), json!({"x": 1, "y": {"z": [1, 2]}, "more": 0})));
        assert!(passes(json!("subset"), json!({"x": 1})));
        assert!(!passes(json!("subset"), json!({"x": 1, "more": 0})));
        assert!(passes(json!("ignore"), json!(null)));
        assert!(passes(json!({"paths": ["y.z.1", "not.there"]}), json!({"y": {"z": [0, 2]}})));
        assert!(!passes(json!({"paths": ["x"]}), json!("text")));
        assert!(passes(json!({"paths": ["y.z.01", "y.z.+1"]}), json!({"y": {"z": [0, 0]}})));
        let dotted =
            json!({"tool": "a", "args": {"object": {"user.name": "x"}}, "args_match": {"paths": ["user.name"]}});
        let config = json!({"mode": "exact", "expected": [dotted]});
        for (input, score) in
            [(json!({"user.name": "x"}), 1.0), (json!({"user.name": "y"}), 0.0), (json!({"user": {"name": "x"}}), 1.0)]
        {
            let calls = json!([{"tool": "a", "input": input}]);
            assert_eq!(run(config.clone(), calls.clone()).0, ScoreState::Decided(score), "{calls}");
        }
    }

    #[test]
    fn names_may_be_patterns() {
        for (tool, name, expected) in [
            ("read_file", "read_*", true),
            ("read_file", "*", true),
            ("read_file", "read?file", true),
            ("read_file", "*_*e", true),
            ("read_file", "read", false),
            ("Read_file", "read_*", false),
            ("a", "a?", false),
            ("", "*", true),
        ] {
            assert_eq!(is_tool_named(tool, name), expected, "{tool} {name}");
        }
        let ordered = json!({"mode": "in_order", "expected": names(&["find_*", "refund"])});
        assert_eq!(run(ordered, names(&["find_order", "refund"])).0, ScoreState::Decided(1.0));
    }

    #[test]
    fn tools_have_a_smallest_and_a_largest_number_of_calls() {
        let config =
            json!({"mode": "any_order", "minimums": [["find_*", 2]], "maximums": [["find_*", 3], ["delete_*", 0]]});
        let value = |calls: &[&str]| run(config.clone(), names(calls)).0;
        assert_eq!(value(&["find_a", "find_b"]), ScoreState::Decided(1.0));
        assert_eq!(value(&["find_a", "find_b", "delete_a"]), ScoreState::Decided(2.0 / 3.0));
        assert_eq!(value(&["find_a"; 4]), ScoreState::Decided(2.0 / 3.0));
    }

    #[test]
    fn ignored_arguments_are_not_compared() {
        let passes = |how: &str, input: Value| {
            let args = json!({"object": {"x": 1, "request_id": "?"}});
            let item = json!({"tool": "a", "args": args, "args_match": how, "ignore_args": ["request_*"]});
            run(json!({"mode": "superset", "expected": [item]}), json!([{"tool": "a", "input": input}])).0
                == ScoreState::Decided(1.0)
        };
        assert!(passes("exact", json!({"x": 1, "request_id": 7})));
        assert!(passes("exact", json!({"x": 1})));
        assert!(!passes("exact", json!({"x": 1, "more": 0})));
        assert!(passes("superset", json!({"x": 1, "more": 0, "request_time": 1})));
        assert!(!passes("superset", json!({"request_id": "?"})));
    }

    #[test]
    fn durations_earn_points_of_their_own() {
        let config = json!({"mode": "in_order", "expected": [
            {"tool": "a", "max_duration_ms": 100.0}, {"tool": "b"}, {"tool": "c", "max_duration_ms": 5.0}]});
        let calls = json!([{"tool": "a", "duration_ms": 50.0}, {"tool": "b"}, {"tool": "c", "duration_ms": 50.0}]);
        assert_eq!(run(config.clone(), calls).0, ScoreState::Decided(0.8));
        let times = json!({"tool": "c", "start_time": "2026-01-04T12:00:00Z", "end_time": "2026-01-04T12:00:00.004Z"});
        let calls = json!([{"tool": "a", "duration_ms": 50.0}, {"tool": "b"}, times]);
        assert_eq!(run(config, calls).0, ScoreState::Decided(1.0));
    }

    #[test]
    fn a_duration_that_was_not_reported_is_an_error_if_it_is_limited() {
        let mut message = Message::text(Role::Assistant, "done");
        let calls = json!([{"tool": "a"}, {"tool": "b", "duration_ms": 5.0}]);
        message.tool_calls = evalsuite_schema::json::from_value(calls).unwrap();
        let evidence = Evidence::new(Facts { transcript: Some(vec![message]), ..Facts::default() });
        for mode in ["in_order", "exact", "superset"] {
            let graded = |limited: &str| {
                let mut expected = names(&["a", "b"]);
                let index = usize::from(limited == "b");
                expected[index]["max_duration_ms"] = json!(100.0);
                let config = json!({"mode": mode, "expected": expected});
                grade(&evalsuite_schema::json::from_value(config).unwrap(), &evidence)
            };
            assert_eq!(graded("b").unwrap().score.state, ScoreState::Decided(1.0), "{mode}");
            let why = graded("a").unwrap_err().to_string();
            assert_eq!(why, "the agent did not report how long its call of `a` took", "{mode}");
        }
    }

    #[test]
    fn an_impossible_duration_is_none() {
        let graded = |call: ToolCall| {
            let mut message = Message::text(Role::Assistant, "done");
            message.tool_calls = vec![call];
            let evidence = Evidence::new(Facts { transcript: Some(vec![message]), ..Facts::default() });
            let config = json!({"mode": "exact", "expected": [{"tool": "a", "max_duration_ms": 10.0}]});
            grade(&evalsuite_schema::json::from_value(config).unwrap(), &evidence).map(|result| result.score.state)
        };
        for took in [-5.0, -1e-9, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut call = ToolCall::new("a");
            call.duration_ms = Some(took);
            assert!(graded(call.clone()).is_err(), "{took}");
            call.start_time = Some("2026-01-04T12:00:00Z".to_owned());
            call.end_time = Some("2026-01-04T12:00:00.004Z".to_owned());
            assert_eq!(graded(call).ok(), Some(ScoreState::Decided(1.0)), "{took}");
        }
    }

    #[test]
    fn calls_that_were_not_reported_are_an_error() {
        let config = ToolTrajectory {
            mode: TrajectoryMode::Subset,
            minimums: Vec::new(),
            maximums: Vec::new(),
            expected: Vec::new(),
            args_match: ArgsMatch::Exact,
        };
        assert!(grade(&config, &Evidence::new(Facts::default())).is_err());
    }

    /// Calls of an agent that may have other tools than those of its MCP servers.
    #[test]
    fn a_pattern_may_mean_tools_that_are_not_known() {
        let graded = |config: Value, calls: &[&str]| {
            let mut message = Message::text(Role::Assistant, "done");
            message.tool_calls = calls.iter().map(|name| ToolCall::new(*name)).collect();
            let known_tools = Some(vec!["search".to_owned(), "delete_note".to_owned()]);
            let unknown = UnknownWork { known_tools, ..UnknownWork::default() };
            let evidence = Evidence::new(Facts { transcript: Some(vec![message]), unknown, ..Facts::default() });
            grade(&evalsuite_schema::json::from_value(config).unwrap(), &evidence)
        };
        let most = |pattern: &str, most: u64| json!({"mode": "any_order", "maximums": [[pattern, most]]});
        for config in [most("delete_*", 0), most("*", 3), most("delete_not?", 1)] {
            let why = graded(config.clone(), &["search"]).unwrap_err().to_string();
            assert!(why.contains("may have other tools"), "{config}: {why}");
        }
        assert!(graded(most("delete_note", 0), &["search"]).is_ok());
        let least = json!({"mode": "any_order", "minimums": [["s*", 1]]});
        let ordered = json!({"mode": "in_order", "expected": names(&["s*"])});
        let superset = json!({"mode": "superset", "expected": names(&["s*"])});
        for config in [least, ordered, superset] {
            assert_eq!(graded(config.clone(), &["search"]).unwrap().score.state, ScoreState::Decided(1.0), "{config}");
            assert!(graded(config.clone(), &["delete_note"]).is_err(), "another tool may be meant: {config}");
        }
        let broken = graded(most("delete_*", 0), &["delete_note"]).unwrap();
        assert_eq!(broken.score.state, ScoreState::Decided(0.0), "more calls cannot mend it");
    }

    #[test]
    fn an_item_gives_way_to_one_that_has_no_other_call() {
        assert_eq!(assign(&[vec![0, 1], vec![0]], 2), [Some(1), Some(0)]);
        assert_eq!(assign(&[vec![0], vec![0, 1]], 2), [Some(0), Some(1)]);
        assert_eq!(assign(&[vec![0, 1], vec![0, 2], vec![0]], 3), [Some(1), Some(2), Some(0)]);
    }

    #[test]
    fn a_call_is_used_once() {
        assert_eq!(assign(&[vec![0], vec![0], vec![0]], 1), [Some(0), None, None]);
        assert_eq!(assign(&[vec![], vec![1]], 2), [None, Some(1)]);
        assert_eq!(assign(&[], 0), []);
    }

    #[test]
    fn long_chains_are_followed() {
        let items = 2000;
        let mut fits: Vec<Vec<usize>> = (0..items).map(|item| vec![item, item + 1]).collect();
        fits.push(vec![0]);
        let assigned = assign(&fits, items + 1);
        assert!(assigned.iter().all(Option::is_some));
    }
}
