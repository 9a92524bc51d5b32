//! `scoring.jsonl`: the outcome and score of a case from the results of its graders.
//!
//! If the outcome differs from the recorded one, it has to be the one that `decide` computes from the recorded grades:
//! a second implementation of the rules for cases, written from their description alone.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use evalsuite::record::Status;
use evalsuite::{AgentError, Content, Outcome, RunOptions, Trial};
use evalsuite_conformance::record::Record;
use evalsuite_schema::decimal::at_least;
use evalsuite_schema::json::{Object, Value, json};

use crate::conversations::Conversation;
use crate::graders::{self, RecordCheck};
use crate::replay;
use crate::replay::CaseRun;
use crate::stub_judge::StubJudge;

/// Names of the rules about scores.
pub const RULES: &[&str] = &[
    "effective-threshold",
    "verdict-counts-towards-passing",
    "scores-are-decimal-numbers",
    "gate-at-threshold-0",
    "decided-at-load-time",
    "judge-failure-is-an-error",
];

/// Runs a record and explains every difference.
///
/// # Errors
///
/// What keeps the record from being tested.
pub fn check(record: &Record) -> Result<RecordCheck, String> {
    let (suite, tests) = suite(record);
    let failing: BTreeSet<String> =
        tests.iter().filter(|test| test["provider_error"] == true).map(|test| text(&test["id"])).collect();
    // One at a time: with `fail_on_error`, their order decides which ones run.
    let mut options = RunOptions::new().with_concurrency(NonZeroUsize::MIN);
    if let Some(threshold) = record.json["cli_threshold"].as_f64() {
        options = options.with_threshold(threshold);
    }
    let judge = StubJudge::of(&record.json);
    let agent = move |trial: &mut Trial<'_>| {
        let said = trial.messages().last().and_then(|message| message.content.as_ref());
        let is_failing = matches!(said, Some(Content::Text(text)) if text.starts_with("FAIL"));
        if failing.contains(trial.case_id()) || is_failing {
            return Err(AgentError::new("the provider failed"));
        }
        Ok(Outcome::new().with_text("the answer"))
    };
    let replay = replay::run_with_judge(&suite, options, agent, judge.as_ref())?;
    let mut checked = RecordCheck::default();
    if !replay.refused.is_empty() {
        return graders::refused(&suite, &Value::Null);
    }
    if record.json["expected"]["error"] == "load" {
        return graders::refused(&suite, &record.json["expected"]["message"]);
    }
    for test in &tests {
        let id = text(&test["id"]);
        let Some(ran) = replay.cases.iter().find(|ran| ran.case.case_id == id) else {
            checked.unexplained.push(format!("test {id} did not run"));
            continue;
        };
        if let Some((status, score)) = reference(record, test).or_else(|| reference_conversation(record, test))
            && !is_recorded(&test["expected"], status, score)
        {
            checked
                .unexplained
                .push(format!("test {id}: recorded {}, but its graders make {status}, {score}", test["expected"]));
        }
        if !is_same(ran, &test["expected"]) {
            let conversation = Conversation {
                record,
                test: &test["test"],
                expected: &test["expected"],
                threshold: threshold(record, test),
                asked: judge.as_ref().map_or(0, |judge| judge.asked().len()),
            };
            let rules = match test["test"]["mode"] == "conversation" {
                true => conversation.explain(ran),
                false => explain(ran, record, test).map(|rule| BTreeSet::from([rule])).ok_or_else(String::new),
            };
            match rules {
                Ok(rules) => checked.rules.extend(rules),
                Err(problem) => checked.unexplained.push(format!(
                    "test {id}: expected {}, ours {:?} {:?}\n{problem}\n{}",
                    test["expected"], ran.case.outcome, ran.case.score, ran.shown
                )),
            }
        }
    }
    Ok(checked)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The suite that a record was made with, and its tests with their results.
fn suite(record: &Record) -> (Record, Vec<Value>) {
    let tests: Vec<Value> = match &record.json["tests"] {
        Value::Array(tests) => tests.clone(),
        _ => vec![single(&record.json)],
    };
    let written = tests.iter().map(written).collect::<Vec<_>>();
    let mut execution = Object::new();
    for (key, value) in
        [("threshold", &record.json["suite_threshold"]), ("fail_on_error", &record.json["fail_on_error"])]
    {
        if !value.is_null() {
            execution.insert(key.to_owned(), value.clone());
        }
    }
    let mut suite = json!({ "tests": written });
    if !execution.is_empty() {
        suite["execution"] = Value::Object(execution);
    }
    let json = json!({ "files": { "EVAL.yaml": suite.to_string() } });
    (Record { eval: Some("EVAL.yaml".to_owned()), json, ..record.clone() }, tests)
}

fn single(json: &Value) -> Value {
    let mut test = json.clone();
    test["id"] = json["test"].get("id").cloned().unwrap_or_else(|| json!("t"));
    test
}

fn written(test: &Value) -> Value {
    if let Value::Object(whole) = &test["test"] {
        return Value::Object(whole.clone());
    }
    let mut case = json!({ "id": test["id"], "input": "q", "criteria": "c" });
    if !test["test_threshold"].is_null() {
        case["execution"] = json!({ "threshold": test["test_threshold"] });
    }
    case["assertions"] = match &test["assertions"] {
        Value::Array(assertions) => json!(assertions),
        _ => test["graders"].as_array().into_iter().flatten().map(stand_in).collect(),
    };
    if case["assertions"].as_array().is_some_and(Vec::is_empty) {
        // The provider failed before anything was graded.
        case["assertions"] = json!([{ "type": "contains", "value": "answer" }]);
    }
    case
}

/// A grader that returns the recorded result.
fn stand_in(grader: &Value) -> Value {
    let command = match grader["verdict"].as_str() {
        Some("skip") => "kill -9 $$".to_owned(),
        _ => format!("cat >/dev/null; echo '{{\"score\":{}}}'", grader["score"]),
    };
    let mut entry = json!({ "name": grader["name"], "type": "code-grader", "command": command });
    for key in ["weight", "required", "min_score"] {
        if !grader[key].is_null() {
            entry[key] = grader[key].clone();
        }
    }
    entry
}

fn is_same(ran: &CaseRun, expected: &Value) -> bool {
    let outcome = match expected["execution_status"].as_str() {
        Some("ok") => Status::Passed,
        Some("quality_failure") => Status::Failed,
        _ => Status::Error,
    };
    // An error has no score here, and 0 in the reference.
    ran.case.outcome == outcome
        && (outcome == Status::Error || close(ran.case.score, expected["score"].as_f64()))
        && has_same_turns(ran, expected)
}

/// Whether every turn of a conversation has the recorded score.
fn has_same_turns(ran: &CaseRun, expected: &Value) -> bool {
    let Some(turns) = ran.trials.first().and_then(|trial| trial.turns.as_ref()) else { return true };
    let is_turn = |score: &&Value| score["name"].as_str().is_some_and(|name| name.starts_with("turn-"));
    let recorded: Vec<&Value> = expected["scores"].as_array().into_iter().flatten().filter(is_turn).collect();
    turns.len() == recorded.len()
        && turns.iter().zip(recorded).all(|(turn, recorded)| close(turn.score, recorded["score"].as_f64()))
}

fn close(a: Option<f64>, b: Option<f64>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if (a - b).abs() < 1e-12)
}

/// Status and score of a conversation in the reference, from its turns and the whole. `None` if they are not recorded.
#[allow(clippy::cast_precision_loss, reason = "a handful of turns")]
fn reference_conversation(record: &Record, test: &Value) -> Option<(&'static str, f64)> {
    let scores = test["expected"]["scores"].as_array().filter(|_| test["test"]["mode"] == "conversation")?;
    let scores: Vec<f64> = scores.iter().filter_map(|score| score["score"].as_f64()).collect();
    let score = match test["test"]["aggregation"].as_str() {
        Some("min") => scores.iter().copied().reduce(f64::min)?,
        Some("max") => scores.iter().copied().reduce(f64::max)?,
        _ => scores.iter().sum::<f64>() / scores.len() as f64,
    };
    let levels = [&test["test"]["execution"]["threshold"], &record.json["cli_threshold"]];
    let threshold = levels.into_iter().find_map(Value::as_f64).unwrap_or(0.8);
    Some((if score >= threshold { "ok" } else { "quality_failure" }, score))
}

/// Status and score of a case in the reference: the threshold of the suite does not count, that of the case precedes that of the run, and
/// a grader without a verdict is an error. `None` if the graders are not recorded.
fn reference(record: &Record, test: &Value) -> Option<(&'static str, f64)> {
    let graders = test["graders"].as_array().filter(|graders| !graders.is_empty() || test["provider_error"] == true)?;
    if test["provider_error"] == true || graders.iter().any(|grader| grader["verdict"] == "skip") {
        return Some(("execution_error", 0.0));
    }
    let score = |grader: &Value| grader["score"].as_f64().unwrap_or(0.0);
    let weight = |grader: &Value| grader["weight"].as_f64().unwrap_or(1.0);
    let threshold = test["test_threshold"].as_f64().or(record.json["cli_threshold"].as_f64()).unwrap_or(0.8);
    let is_closed = |grader: &Value| {
        let is_required = grader["required"] == true || grader["required"].is_number();
        is_required && score(grader) < grader["min_score"].as_f64().unwrap_or(threshold)
    };
    let weights: f64 = graders.iter().map(weight).sum();
    let sum: f64 = graders.iter().map(|grader| weight(grader) * score(grader)).sum();
    let mean = if weights > 0.0 && !graders.iter().any(is_closed) { sum / weights } else { 0.0 };
    Some((if mean >= threshold { "ok" } else { "quality_failure" }, mean))
}

fn is_recorded(expected: &Value, status: &str, score: f64) -> bool {
    // Of an error with a judge, the score of the others is recorded.
    let is_error = status == "execution_error";
    expected["execution_status"] == status && (is_error || close(expected["score"].as_f64(), Some(score)))
}

fn explain(ran: &CaseRun, record: &Record, test: &Value) -> Option<&'static str> {
    let skips = test["graders"].as_array()?.iter().any(|grader| grader["verdict"] == "skip");
    if skips && matches!(ran.case.outcome, Status::Error | Status::Skipped) {
        return Some("judge-failure-is-an-error");
    }
    let threshold = threshold(record, test);
    let (outcome, score) = decide(test, threshold)?;
    if ran.case.outcome != outcome || !close(ran.case.score, Some(score)) {
        return None;
    }
    if record.json["suite_threshold"].is_number() || record.json["cli_threshold"].is_number() {
        return Some("effective-threshold");
    }
    if compared(test, threshold, score).any(|(score, mark)| at_least(score, mark) != (score >= mark)) {
        return Some("scores-are-decimal-numbers");
    }
    // The score decides alone in the reference.
    let is_passing =
        close(Some(score), test["expected"]["score"].as_f64()) && (score >= threshold) == (outcome == Status::Passed);
    if !is_passing && (outcome == Status::Passed || threshold > 0.0) {
        return Some("verdict-counts-towards-passing");
    }
    (threshold == 0.0).then_some("gate-at-threshold-0")
}

/// The effective threshold: that of the run, the case or the suite, in this order, or else 0.8.
fn threshold(record: &Record, test: &Value) -> f64 {
    let own = [&test["test_threshold"], &test["test"]["execution"]["threshold"]];
    let levels = [&record.json["cli_threshold"], own[0], own[1], &record.json["suite_threshold"]];
    levels.into_iter().find_map(Value::as_f64).unwrap_or(0.8)
}

/// Lowest score of a grader that passes.
fn mark(test: &Value, grader: &Value, threshold: f64) -> f64 {
    let mut entries = test["assertions"].as_array().into_iter().flatten();
    let entry = entries.find(|entry| entry["name"] == grader["name"]);
    let own = entry.and_then(|entry| entry["aggregator"]["threshold"].as_f64());
    grader["min_score"].as_f64().or(own).unwrap_or(threshold)
}

/// The scores of a case and of its graders, each with what it has to reach.
fn compared(test: &Value, threshold: f64, score: f64) -> impl Iterator<Item = (f64, f64)> {
    let graders = test["graders"].as_array().into_iter().flatten();
    let graders = graders.filter_map(move |grader| Some((grader["score"].as_f64()?, mark(test, grader, threshold))));
    graders.chain([(score, threshold)])
}

/// Outcome and score of a case from its grades, none of which is an error.
fn decide(test: &Value, threshold: f64) -> Option<(Status, f64)> {
    let graders = test["graders"].as_array()?;
    let number = |grader: &Value, key: &str, absent: f64| grader[key].as_f64().unwrap_or(absent);
    let is_gate = |grader: &Value| grader["required"] == true || grader["required"].is_number();
    let passes = |grader: &Value| at_least(number(grader, "score", 0.0), mark(test, grader, threshold));
    let closed = |grader: &Value| !passes(grader);
    let weights: f64 = graders.iter().map(|grader| number(grader, "weight", 1.0)).sum();
    if weights == 0.0 || graders.iter().any(|grader| is_gate(grader) && closed(grader)) {
        return Some((Status::Failed, 0.0));
    }
    let sum: f64 = graders.iter().map(|grader| number(grader, "weight", 1.0) * number(grader, "score", 0.0)).sum();
    // What passes counts at least the threshold, and what fails less.
    let above = |grader: &Value| {
        let distance = number(grader, "score", 0.0) - threshold;
        number(grader, "weight", 1.0) * if passes(grader) { distance.max(0.0) } else { distance.min(-1e-9) }
    };
    let is_passing = graders.iter().map(above).sum::<f64>() >= -1e-12;
    Some((if is_passing { Status::Passed } else { Status::Failed }, sum / weights))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_gate_is_a_failure_at_any_threshold() {
        let grade = |score: f64, required: bool| json!({"score": score, "weight": 1, "required": required});
        let decide = |graders: [Value; 2]| super::decide(&json!({"graders": graders}), 0.75);
        assert_eq!(decide([grade(1.0, false), grade(0.5, false)]), Some((Status::Passed, 0.75)));
        assert_eq!(decide([grade(1.0, false), grade(0.5, true)]), Some((Status::Failed, 0.0)));
    }
}
