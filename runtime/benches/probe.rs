//! Time of the probe of a suite with 2,000 cases and built-in graders.
//!
//! `cargo bench -p evalsuite --features json-schema --bench probe` measures the optimised code; `cargo bench --profile dev …` measures the code that tests run.

use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use evalsuite::tooling::probe_loaded_suite;
use evalsuite_schema::json::{Value, from_value, json};
use evalsuite_schema::{Case, Content, Grader, Input, Layout, Location, Message, Role, Suite, SuiteKind};

/// Number of cases.
const CASES: u32 = 2_000;

/// The cases, with three graders each, of the kinds that suites use most.
fn cases() -> Vec<Case> {
    (0..CASES).map(case).collect()
}

fn case(number: u32) -> Case {
    let place = Location::new("suites/bench/EVAL.yaml", number + 1, 1);
    let mut case = Case::new(format!("case-{number}"), place.clone());
    let ask = format!("Order {number} arrived broken. Please refund 19.90 to the card that I paid with.");
    case.input = Input::Messages(vec![Message::text(Role::User, ask)]);
    let answer = format!("The refund of 19.90 for order {number} is approved. It will be on your card by 3 May.");
    let configs = match number % 4 {
        0 => json!([
            { "contains": { "value": "19.90" } },
            { "regex": { "value": "\\border \\d+\\b" } },
            { "equals": { "value": answer } },
        ]),
        1 => json!([
            { "similar": { "value": answer } },
            { "icontains-any": { "value": ["refund", "reimburse"] } },
            { "latency": { "threshold": 5000.0 } },
        ]),
        2 => json!([
            { "tool-trajectory": { "mode": "in_order", "expected": [
                { "tool": "find_order", "args": { "object": { "id": number } } },
                { "tool": "refund", "args": { "object": { "amount": 19.9 } } },
            ] } },
            { "contains": { "value": "approved" } },
            { "contains-all": { "value": ["19.90", "May"] } },
        ]),
        _ => json!([
            "is-json",
            { "field-accuracy": { "fields": [
                { "path": "total", "match": "exact", "required": true, "weight": 1.0 },
                { "path": "order", "match": "exact", "required": true, "weight": 1.0 },
            ] } },
            { "contains": { "value": "19.9" } },
        ]),
    };
    let content = match number % 4 {
        3 => Content::Data(json!({ "total": 19.9, "order": number, "paid": true })),
        _ => Content::Text(answer),
    };
    case.expected_output = vec![Message::new(Role::Assistant, content)];
    let graders = configs.as_array().into_iter().flatten().enumerate().map(|(index, config): (usize, &Value)| {
        let config = from_value(config.clone()).expect("the settings of a grader");
        Grader::new(format!("grader-{index}"), place.clone(), config)
    });
    case.graders = graders.collect();
    case
}

fn probe(criterion: &mut Criterion) {
    let place = Location::new("suites/bench/EVAL.yaml", 1, 1);
    let cases = cases();
    let mut group = criterion.benchmark_group("probe");
    group.sample_size(10);
    group.bench_function("2000_cases", |bencher| {
        bencher.iter(|| {
            let suite = Suite::new("bench", Layout::Cases, SuiteKind::Regression, place.clone());
            probe_loaded_suite(suite, cases.clone(), Path::new(".")).expect("the suite is probed")
        });
    });
    group.finish();
}

criterion_group!(benches, probe);
criterion_main!(benches);
