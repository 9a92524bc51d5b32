//! No evidence, however odd, breaks a built-in grader.

use evalsuite::__private::{AgentWork, GradableEvidence};
use evalsuite::record::{GraderRecord, GraderState, Usage};
use evalsuite::{Content, Message, Role, ToolCall, Verdict};
use evalsuite_schema::json::{Value, json};
use evalsuite_schema::{Grader, Location};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// At least one grader of every deterministic type, and every mode of those that have some.
fn configs() -> Vec<Value> {
    let calls = json!([
        {"tool": "a", "args": {"object": {"x": 1, "y": [1, {"z": null}]}}, "max_duration_ms": 5.0},
        {"tool": "", "args": "any", "max_duration_ms": 0.0},
        {"tool": "a", "args_match": {"paths": ["y.1.z", "..", ""]}, "args": {"object": {"y": "a"}}},
    ]);
    let trajectory =
        |mode: &str, args: Value| json!({"tool-trajectory": {"mode": mode, "expected": calls, "args_match": args}});
    let fields = |aggregation: &str| {
        let field = |path: &str, matching: Value, weight: f64| json!({"path": path, "match": matching, "required": weight > 1.0, "weight": weight});
        json!({"field-accuracy": {"aggregation": aggregation, "fields": [
            field("a", json!("exact"), 2.0),
            field("a[0].b", json!({"numeric_tolerance": {"tolerance": 0.1, "relative": true}}), 0.0),
            field("b", json!({"numeric_tolerance": {"tolerance": 0.0, "relative": false}}), 1e300),
            field("a", json!({"date": {"formats": []}}), 0.5),
            field("b", json!({"date": {"formats": ["DD/MM/YYYY"]}}), 3.0),
        ]}})
    };
    let schema = json!({
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"$ref": "#/$defs/a"}, "b": {"multipleOf": 0.1, "pattern": r"^\d+$", "format": "date"}},
        "additionalProperties": {"uniqueItems": true, "not": {"const": {}}},
        "$defs": {"a": {"anyOf": [{"type": "string", "maxLength": 3}, {"items": {"$ref": "#"}}]}},
    });
    let mut all = vec![
        json!("is-json"),
        json!({"regex": {"value": r"(\w+)\s\1(?!x)", "flags": "imsx"}}),
        json!({"regex": {"value": "(a|aa)+$"}}),
        json!({"similar": {"value": "a short text\n", "ignore_case": true}}),
        json!({"similar": {}}),
        json!({"latency": {"threshold": 10.0}}),
        json!({"cost": {"budget": 0.0}}),
        json!({"token-usage": {"max_total": 10.0, "max_input": 0.0, "max_output": 1e300}}),
        json!({"execution-metrics": {
            "max_tool_calls": 1.0, "max_llm_calls": 2.0, "max_tokens": 3.0, "max_cost_usd": 0.5, "max_duration_ms": 1.0,
            "target_exploration_ratio": 0.5,
        }}),
        json!({"tool-trajectory": {"mode": "any_order", "minimums": [["a", 2], ["", 0]], "args_match": "exact"}}),
        json!({"skill-trigger": {"skill": "a", "should_trigger": true}}),
        json!({"skill-trigger": {"skill": "b", "should_trigger": false}}),
        fields("weighted_average"),
        fields("all_or_nothing"),
        json!({"json-schema": {"file": {"written": "s.json", "path": "s.json"}, "schema": schema}}),
        json!({"json-schema": {"file": {"written": "s.json", "path": "s.json"}, "schema": false}}),
    ];
    for kind in ["contains", "icontains", "starts-with", "ends-with", "equals"] {
        all.extend(["a", " ", "İ\u{1b}[0m\n"].map(|value| json!({kind: {"value": value}})));
    }
    for kind in ["contains-any", "contains-all", "icontains-any", "icontains-all"] {
        all.push(json!({kind: {"value": ["a", "ß\u{0}", " "]}}));
    }
    for mode in ["in_order", "exact", "superset", "subset"] {
        all.push(json!({"tool-trajectory": {"mode": mode, "expected": [], "args_match": "exact"}}));
        for args in [json!("exact"), json!("superset"), json!("subset"), json!("ignore"), json!({"paths": ["x"]})] {
            all.push(trajectory(mode, args));
        }
    }
    all
}

fn grader(name: &str, config: Value) -> Grader {
    let config = evalsuite_schema::json::from_value(config.clone()).unwrap_or_else(|error| panic!("{config}: {error}"));
    Grader::new(name, Location::new("EVAL.yaml", 1, 1), config)
}

/// A grader in a composite with itself, negated.
fn composite(config: &Value, weights: [f64; 2], aggregator: Value) -> Grader {
    let mut members = [grader("first", config.clone()), grader("second", config.clone())];
    members[1].negate = true;
    members[1].min_score = Some(0.3);
    for (member, weight) in members.iter_mut().zip(weights) {
        member.weight = weight;
    }
    grader("composite", json!({"composite": {"members": members, "aggregator": aggregator}}))
}

fn json_value() -> impl Strategy<Value = Value> {
    let dates = ["2025-02-30", "31/12/2025", "1e999", "-0", "12.50", "Jan 5, 2025", "9999999-1-1"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
        select(dates.to_vec()).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key = select(vec!["a", "b", "x", "y", "skill", "file_path", ""]);
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((key, inner), 0..4)
                .prop_map(|entries| entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "(?s).{0,40}",
        "[ab \n\t\u{0}\u{1b}{}:,0-9\u{feff}İßǅ\u{202e}`-]{0,60}",
        "(a|aa|skills/a/){0,30}",
        Just(String::new()),
        Just("𝄞".repeat(700)),
        Just("[".repeat(5_000)),
    ]
}

fn answer() -> impl Strategy<Value = String> {
    prop_oneof![
        text(),
        json_value().prop_map(|value| value.to_string()),
        json_value().prop_map(|value| format!("Here:\n```json\n{value:#}\n```\n}}")),
    ]
}

fn number() -> impl Strategy<Value = f64> {
    let odd = vec![0.0, -0.0, 1e-300, f64::MAX, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0];
    prop_oneof![any::<f64>(), select(odd)]
}

fn call() -> impl Strategy<Value = ToolCall> {
    let tool = prop_oneof![select(vec!["a", "", "Skill", "Read", "grep"]).prop_map(str::to_owned), text()];
    (tool, option::of(json_value()), option::of(json_value()), option::of(number())).prop_map(
        |(tool, input, output, duration_ms)| {
            let mut call = ToolCall::new(tool);
            (call.input, call.output, call.duration_ms) = (input, output, duration_ms);
            call
        },
    )
}

fn message() -> impl Strategy<Value = Message> {
    let role = select(vec![Role::System, Role::User, Role::Assistant, Role::Tool]);
    let content = prop_oneof![answer().prop_map(Content::Text), json_value().prop_map(Content::Data)];
    (role, option::of(content), vec(call(), 0..5), option::of(any::<u64>())).prop_map(
        |(role, content, tool_calls, llm_call_count)| {
            let mut message = Message::text(role, "");
            (message.content, message.tool_calls, message.llm_call_count) = (content, tool_calls, llm_call_count);
            message
        },
    )
}

fn given() -> impl Strategy<Value = AgentWork> {
    let usage = any::<[u64; 3]>().prop_map(|[input, output, cached]| Usage::new(input, output).with_cached(cached));
    let transcript = option::of(vec(message(), 0..4));
    (answer(), transcript, option::of(usage), option::of(number()), number(), vec(message(), 0..3)).prop_map(
        |(answer, transcript, usage, cost_usd, duration_ms, expected_output)| AgentWork {
            answer,
            transcript,
            usage,
            cost_usd,
            duration_ms,
            expected_output,
        },
    )
}

fn check(record: &GraderRecord) -> Result<(), TestCaseError> {
    let value = record.value;
    match record.state {
        GraderState::Decided => {
            prop_assert!(value.is_some_and(|value| (0.0..=1.0).contains(&value)), "{record:?}");
            prop_assert!(record.verdict.is_some() && record.error.is_none(), "{record:?}");
        }
        GraderState::Error | GraderState::Undecided => {
            prop_assert!(value.is_none() && record.verdict.is_none(), "{record:?}");
        }
    }
    if let Some(error) = &record.error {
        prop_assert!(!error.contains("is not a number from 0 to 1"), "{error}");
    }
    for assertion in &record.assertions {
        for shown in [&assertion.expected, &assertion.actual].into_iter().flatten() {
            prop_assert!(!shown.contains(char::is_control), "{shown:?}");
            prop_assert!(shown.chars().count() < 2_500, "{shown:?}");
        }
        let is_hidden = |character: char| character.is_control() && !"\n\r\t".contains(character);
        prop_assert!(!assertion.text.contains(is_hidden), "{:?}", assertion.text);
    }
    record.members.iter().try_for_each(check)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn no_evidence_breaks_a_grader(given in given(), mark in option::of(0.001..=1.0f64)) {
        let evidence = GradableEvidence::new(given);
        for config in configs() {
            let mut grader = grader("g", config);
            grader.min_score = mark;
            let plain = evidence.grade(&grader);
            check(&plain)?;
            grader.negate = true;
            let negated = evidence.grade(&grader);
            check(&negated)?;
            prop_assert_eq!(plain.state, negated.state);
            if let (Some(value), Some(inverted)) = (plain.value, negated.value) {
                // Where something cannot be read, the opposite is not known either. Enough of the rest may pass.
                prop_assert!(negated.negated || negated.verdict == Some(Verdict::Fail));
                let expected = if negated.negated { 1.0 - value } else { value };
                prop_assert!((expected - inverted).abs() <= 1e-12, "{} {}", expected, inverted);
            }
        }
    }

    #[test]
    fn the_scale_of_weights_does_not_matter(
        given in given(),
        weights in [0.0..100.0f64, 0.001..100.0f64],
        scale in prop_oneof![0.001..1000.0f64, select(vec![1e-250, 1e306])],
        configs in vec(select(configs()), 4),
    ) {
        let evidence = GradableEvidence::new(given);
        for config in configs {
            let average = || json!({"weighted_average": {}});
            let plain = evidence.grade(&composite(&config, weights, average()));
            let scaled = evidence.grade(&composite(&config, weights.map(|weight| weight * scale), average()));
            check(&plain)?;
            check(&scaled)?;
            prop_assert_eq!(plain.state, scaled.state);
            if let (Some(plain), Some(scaled)) = (plain.value, scaled.value) {
                prop_assert!((plain - scaled).abs() < 1e-9, "{} {}", plain, scaled);
            }
            check(&evidence.grade(&composite(&config, weights, json!({"threshold": {"threshold": 0.5}}))))?;
        }
    }
}
