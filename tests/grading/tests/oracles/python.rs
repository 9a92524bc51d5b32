//! A third opinion: `tools/third_opinion.py` writes inputs with what Python's `re`, `json`, `decimal` and `fractions` say about them.

use std::io::{BufRead, BufReader};
use std::panic::catch_unwind;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use evalsuite::__private::{AgentWork, GradableEvidence, end_trial};
use evalsuite::schema::Layout;
use evalsuite::{Content, Message, Role, Status};
use evalsuite_needs::needs;
use evalsuite_schema::json::{Value, json};

use crate::compared::{Expected, answered, compare, graded, grader, inputs, seed};

fn text(input: &Value, key: &str) -> String {
    input[key].as_str().unwrap_or_else(|| panic!("`{key}` of {input}")).to_owned()
}

fn float(input: &Value, key: &str) -> f64 {
    text(input, key).parse().unwrap_or_else(|error| panic!("`{key}` of {input}: {error}"))
}

/// One object of which a field is a number as it is written.
fn document(digits: &str) -> String {
    format!("{{\"n\": {digits}}}")
}

fn number(input: &Value, expected: &Expected) -> Result<(), String> {
    let matching =
        json!({"numeric_tolerance": {"tolerance": float(input, "tolerance"), "relative": input["relative"]}});
    let field = json!({"path": "n", "match": matching, "required": true, "weight": 1.0});
    let reference = evalsuite_schema::json::from_str(&document(&text(input, "expected_number"))).expect("an object");
    let work = AgentWork {
        answer: document(&text(input, "actual")),
        expected_output: vec![Message::new(Role::Assistant, Content::Data(reference))],
        ..AgentWork::default()
    };
    compare(&graded(&grader(json!({"field-accuracy": {"fields": [field]}})), work), expected)
}

fn mean(input: &Value) -> Result<(), String> {
    let evidence = GradableEvidence::new(AgentWork {
        answer: "{\"hit\": 1, \"miss\": 0}".to_owned(),
        expected_output: vec![Message::new(Role::Assistant, Content::Data(json!({"hit": 1, "miss": 1})))],
        ..AgentWork::default()
    });
    let threshold = float(input, "threshold");
    let graders = input["graders"].as_array().expect("graders").iter().map(|entry| {
        let field = |path: &str| {
            json!({"path": path, "match": "exact", "required": true, "weight": entry[path].as_f64().expect("a weight")})
        };
        let mut grader = grader(json!({"field-accuracy": {"fields": [field("hit"), field("miss")]}}));
        grader.weight = float(entry, "weight");
        evidence.grade_at(&grader, threshold, Path::new(""))
    });
    let ours = end_trial(Layout::Cases, &graders.collect::<Vec<_>>(), threshold);
    let expected = if input["expected"] == true { Status::Passed } else { Status::Failed };
    if ours.outcome == expected { Ok(()) } else { Err(format!("Python: {expected:?}, the product: {ours:?}")) }
}

fn check(input: &Value) -> Result<(), String> {
    let expected = Expected::passed(input["expected"] == true);
    match input["kind"].as_str() {
        Some("regex") => {
            // The build refuses a repeated look-around, which Python accepts.
            let pattern = text(input, "pattern");
            if ["(?=", "(?!", "(?<"].iter().any(|look| pattern.contains(look))
                && fancy_regex::Regex::new(&pattern).is_err()
            {
                return Ok(());
            }
            let grader = grader(json!({"regex": {"value": pattern, "flags": input["flags"]}}));
            compare(&graded(&grader, answered(&text(input, "text"))), &expected)
        }
        Some("json") => compare(&graded(&grader(json!("is-json")), answered(&text(input, "text"))), &expected),
        Some("number") => number(input, &expected),
        _ => mean(input),
    }
}

#[needs(python)]
#[test]
fn python_has_the_same_opinion() {
    // Four kinds of inputs.
    let (count, seed, started) = (u64::from(inputs()) * 4, seed(), Instant::now());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/third_opinion.py");
    let mut command = Command::new("python3");
    command.arg(script).args([count.to_string(), seed.to_string()]).stdout(Stdio::piped());
    let mut python = command.spawn().expect("python3 starts");
    let mut read = 0;
    for line in BufReader::new(python.stdout.take().expect("a pipe")).lines() {
        let line = line.expect("text");
        let input: Value = evalsuite_schema::json::from_str(&line).expect("JSON");
        let checked = catch_unwind(|| check(&input)).unwrap_or_else(|_| Err("a panic".to_owned()));
        if let Err(error) = checked {
            panic!("TEST_ORACLE_SEED={seed}, input {read}: {error}\n{line}");
        }
        read += 1;
    }
    assert!(python.wait().expect("python3 ends").success() && read == count, "{read} of {count} inputs");
    println!("Python: {read} inputs with seed {seed}, 0 differences, {:.1?}", started.elapsed());
}
