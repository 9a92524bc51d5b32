//! Time of each deterministic grader per evidence of 1 KB, 100 KB and 10 MB.
//!
//! `cargo bench -p evalsuite --features json-schema --bench graders` prints bytes per second: as nothing is quadratic, they do not fall with the
//! size. `similar` compares with a text of a fixed length, and with one of 100 KB, the largest it takes for an answer of
//! that size.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use evalsuite::__private::{AgentWork, GradableEvidence};
use evalsuite::record::{GraderState, Usage};
use evalsuite::{Message, Role, ToolCall};
use evalsuite_schema::json::{Value, json};
use evalsuite_schema::{Grader, Location};

const SIZES: [(&str, usize); 3] = [("1KB", 1_000), ("100KB", 100_000), ("10MB", 10_000_000)];

/// Evidence of about a size: prose, JSON and tool calls.
struct Evidence {
    label: &'static str,
    size: usize,
    prose: GradableEvidence,
    json: GradableEvidence,
    calls: GradableEvidence,
}

fn evidence() -> Vec<Evidence> {
    SIZES
        .map(|(label, size)| {
            let entry = r#"{"id":1182,"paid":"19.90","tags":["a","ß"]},"#;
            let entries = entry.repeat(size / entry.len());
            let json = format!(r#"{{"total":42,"day":"2025-01-31","items":[{}]}}"#, entries.trim_end_matches(','));
            Evidence {
                label,
                size,
                prose: GradableEvidence::new(AgentWork { answer: prose(size), ..given() }),
                json: GradableEvidence::new(AgentWork {
                    answer: json,
                    expected_output: vec![Message::text(Role::Assistant, r#"{"total": 42, "day": "31/01/2025"}"#)],
                    ..given()
                }),
                calls: GradableEvidence::new(AgentWork { transcript: Some(calls(size)), ..given() }),
            }
        })
        .into()
}

fn given() -> AgentWork {
    AgentWork { usage: Some(Usage::new(100, 50)), cost_usd: Some(0.01), duration_ms: 12.0, ..AgentWork::default() }
}

fn prose(size: usize) -> String {
    "Your refund of 19.90 € is on its way. ".chars().cycle().take(size).collect()
}

fn calls(size: usize) -> Vec<Message> {
    let call = |index: usize| {
        let mut call = ToolCall::new(["search", "Read", "Edit"][index % 3]);
        call.input = Some(json!({"file_path": format!("/src/part-{index}.rs"), "limit": index}));
        call.output = Some(json!("forty bytes of output, more or less so"));
        call.duration_ms = Some(3.0);
        call
    };
    let mut message = Message::text(Role::Assistant, "done");
    message.tool_calls = (0..size / 100).map(call).collect();
    vec![message]
}

fn grader(config: Value) -> Grader {
    let config = evalsuite_schema::json::from_value(config.clone()).unwrap_or_else(|error| panic!("{config}: {error}"));
    Grader::new("g", Location::new("EVAL.yaml", 1, 1), config)
}

fn trajectory(mode: &str) -> Value {
    let item = |index: usize| {
        let tool = ["search", "Read", "gone"][index % 3];
        json!({"tool": tool, "args": {"object": {"limit": index}}})
    };
    let items: Vec<Value> = (0..20).map(item).collect();
    json!({"tool-trajectory": {"mode": mode, "expected": items, "args_match": "superset"}})
}

fn bench(c: &mut Criterion, evidence: &[Evidence], name: &str, of: fn(&Evidence) -> &GradableEvidence, config: Value) {
    let grader = grader(config);
    let mut group = c.benchmark_group(name);
    group.sample_size(10).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(800));
    for evidence in evidence {
        let direct = of(evidence);
        assert_ne!(direct.grade(&grader).state, GraderState::Error, "{name} {}", evidence.label);
        group.throughput(Throughput::Bytes(evidence.size as u64));
        group.bench_function(BenchmarkId::from_parameter(evidence.label), |b| {
            b.iter(|| black_box(direct.grade(&grader)));
        });
    }
    group.finish();
}

fn graders(c: &mut Criterion) {
    let all = evidence();
    let prose: fn(&Evidence) -> &GradableEvidence = |evidence| &evidence.prose;
    let json_answer: fn(&Evidence) -> &GradableEvidence = |evidence| &evidence.json;
    let calls: fn(&Evidence) -> &GradableEvidence = |evidence| &evidence.calls;

    for kind in ["contains", "icontains", "starts-with", "ends-with", "equals"] {
        bench(c, &all, kind, prose, json!({kind: {"value": "is not on its way"}}));
    }
    for kind in ["contains-any", "contains-all", "icontains-any", "icontains-all"] {
        bench(c, &all, kind, prose, json!({kind: {"value": ["no", "nothing", "is not on its way"]}}));
    }
    bench(c, &all, "regex", prose, json!({"regex": {"value": r"\brefund of \d+,\d\d", "flags": "i"}}));
    // At 10 MB the limit on backtracking, which counts for the whole answer, makes this one an error.
    bench(c, &all[..2], "regex-backtracking", prose, json!({"regex": {"value": r"(?<=refund of )\d{3,}(?!\.\d)"}}));
    bench(c, &all, "similar", prose, json!({"similar": {"value": "Your refund of 20 EUR is on its way, or not."}}));
    bench(c, &all[..2], "similar-100KB", prose, json!({"similar": {"value": prose_reversed(90_000)}}));
    bench(c, &all, "is-json", json_answer, json!("is-json"));
    bench(c, &all, "field-accuracy", json_answer, fields());
    if cfg!(feature = "json-schema") {
        bench(c, &all, "json-schema", json_answer, schema());
    }
    bench(c, &all, "latency", prose, json!({"latency": {"threshold": 10.0}}));
    bench(c, &all, "cost", prose, json!({"cost": {"budget": 0.5}}));
    bench(c, &all, "token-usage", prose, json!({"token-usage": {"max_total": 10.0}}));
    let metrics = json!({"max_tool_calls": 5.0, "max_llm_calls": 1.0, "target_exploration_ratio": 0.5});
    bench(c, &all, "execution-metrics", calls, json!({"execution-metrics": metrics}));
    let minimums = json!([["search", 2], ["gone", 1]]);
    bench(
        c,
        &all,
        "tool-trajectory-any_order",
        calls,
        json!({"tool-trajectory": {"mode": "any_order", "minimums": minimums}}),
    );
    for mode in ["in_order", "exact", "superset", "subset"] {
        bench(c, &all, &format!("tool-trajectory-{mode}"), calls, trajectory(mode));
    }
    bench(c, &all, "skill-trigger", calls, json!({"skill-trigger": {"skill": "csv", "should_trigger": true}}));
    let members: Vec<Grader> = ["contains", "icontains"].map(|kind| grader(json!({kind: {"value": "nothing"}}))).into();
    let composite = json!({"composite": {"members": members, "aggregator": {"weighted_average": {}}}});
    bench(c, &all, "composite", prose, composite);
}

/// Prose that has nothing in common with the answer but its characters.
fn prose_reversed(size: usize) -> String {
    prose(size).chars().rev().collect()
}

fn fields() -> Value {
    let field = |path: &str, matching: Value| json!({"path": path, "match": matching, "required": true, "weight": 1.0});
    json!({"field-accuracy": {"fields": [
        field("total", json!({"numeric_tolerance": {"tolerance": 0.5, "relative": false}})),
        field("day", json!({"date": {"formats": []}})),
    ]}})
}

fn schema() -> Value {
    let item = json!({
        "type": "object",
        "required": ["id", "paid"],
        "properties": {"id": {"type": "integer"}, "paid": {"pattern": r"^\d+\.\d\d$"}, "tags": {"uniqueItems": true}},
    });
    let schema = json!({"type": "object", "properties": {"items": {"type": "array", "items": item}}});
    json!({"json-schema": {"file": {"written": "s.json", "path": "s.json"}, "schema": schema}})
}

criterion_group!(benches, graders);
criterion_main!(benches);
