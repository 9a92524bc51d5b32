//! The part of records about one grader that is about loading.
//!
//! `graders.jsonl`, `code_grader.jsonl` and `rubrics.jsonl` were recorded with the suite
//! `tests: [{id: t, input: q, criteria: c, assertions: [<grader>]}]`. They contain whether the entry was kept, and its
//! name, weight and marks; its score is not about loading.

use evalsuite_schema::json::{Value, json};

use crate::record::Record;

/// The suite that a record was made with, as a record.
pub fn suite(record: Record) -> Result<Record, String> {
    let mut test = json!({ "id": "t", "input": "q", "criteria": "c" });
    if record.json.get("judge_reply").is_some() && record.json["test"].is_object() {
        // Records of a judge's prompt contain the complete test.
        test = json!({ "id": "t" });
    }
    for (key, value) in record.json["test"].as_object().into_iter().flatten() {
        test[key] = value.clone();
    }
    if !record.json["evidence"]["expected_output"].is_null() {
        test["expected_output"] = record.json["evidence"]["expected_output"].clone();
    }
    match (record.json.get("grader"), record.json.get("assertions")) {
        (Some(grader), _) => test["assertions"] = json!([grader]),
        (None, Some(assertions)) => test["assertions"] = assertions.clone(),
        (None, None) => {}
    }
    let text = text(&json!({ "tests": [test] }))?;
    let directory = record.json["eval_dir"].as_str().map(|directory| directory.trim_end_matches('/'));
    let eval = directory.map_or("EVAL.yaml".to_owned(), |directory| format!("{directory}/EVAL.yaml"));
    let mut files = record.json["files"].as_object().cloned().unwrap_or_default();
    files.insert(eval.clone(), json!(text));
    let json = json!({
        "id": record.id,
        "files": files,
        "modes": record.json["modes"],
        "expected": expected(&record.json["expected"]),
    });
    Ok(Record { eval: Some(eval), json, ..record })
}

/// The suite as YAML. Characters that YAML treats as line ends, or does not allow, are written as JSON escapes.
fn text(suite: &Value) -> Result<String, String> {
    let is_special =
        |c: char| matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    let json = suite.to_string();
    if !json.contains(is_special) {
        return serde_yaml::to_string(suite).map_err(|error| error.to_string());
    }
    let write = |c: char| if is_special(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    Ok(json.chars().map(write).collect())
}

/// The part of the outcome that is about loading.
fn expected(outcome: &Value) -> Value {
    let lines = outcome["warnings"].as_array().into_iter().flatten();
    // Warnings about the judge's replies were printed while the test ran.
    let warnings: Vec<&Value> = lines.filter(|line| line.as_str().is_some_and(|line| !line.starts_with('⚠'))).collect();
    let mut expected = json!({ "warnings": warnings });
    if outcome["error"] == "load" {
        expected["error"] = outcome["message"].clone();
        expected["error_kind"] = json!("agentv");
        return expected;
    }
    let kept = match &outcome["graders"] {
        Value::Array(graders) => graders.iter().map(common).collect(),
        _ if outcome["dropped"] == true || outcome["implicit"] == true => Vec::new(),
        _ => vec![common(outcome)],
    };
    expected["kept"] = Value::Array(kept);
    expected
}

/// The fields common to all graders, as far as the record contains them.
fn common(grader: &Value) -> Value {
    let mark = grader["required"].as_f64().map_or(grader["min_score"].clone(), |mark| json!(mark));
    let is_required = grader["required"] == true || grader["required"].is_number();
    let pairs = [
        ("name", grader["name"].clone()),
        ("weight", grader["weight"].clone()),
        ("required", grader.get("required").map_or(Value::Null, |_| json!(is_required))),
        ("negate", grader["negate"].clone()),
        ("min_score", mark),
    ];
    let pairs = pairs.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(pairs.map(|(key, value)| (key.to_owned(), value)).collect())
}
