//! A result as the JSON object that a command prints.

use std::collections::BTreeMap;

use evalsuite_records::record::{Assertion, Verdict};
use evalsuite_schema::{Object, Value};

use crate::model::score::Score;

/// The effect of `verdict` in a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VerdictRule {
    /// `fail` decides; `pass` is a detail, and the score decides.
    OnlyFailDecides,
    /// It decides.
    Decides,
}

/// Whether an object is meant as a result.
pub(super) fn is_result(object: &Object) -> bool {
    ["score", "assertions", "verdict"].iter().any(|key| object.contains_key(key))
}

/// Whether one of the JSON objects in a text is a result.
pub(super) fn is_in(text: &str) -> bool {
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let mut objects = serde_json::Deserializer::from_str(&rest[start..]).into_iter::<Object>();
        rest = match objects.next() {
            Some(Ok(object)) if is_result(&object) => return true,
            Some(Ok(_)) => &rest[start + objects.byte_offset()..],
            _ => &rest[start + 1..],
        };
    }
    false
}

/// The score of a result; the error is what is wrong with the result.
pub(super) fn read(mut result: Object, rule: VerdictRule) -> Result<Score, String> {
    let assertions = result.remove("assertions").map(assertions).transpose()?.unwrap_or_default();
    let verdict = match result.remove("verdict") {
        None => None,
        Some(Value::String(text)) if matches!(text.as_str(), "pass" | "fail" | "undecided") => Some(text),
        Some(other) => {
            return Err(format!("`verdict` is {other}, not \"pass\", \"fail\" or \"undecided\""));
        }
    };
    let rationale = text(&mut result, "rationale")?;
    let details = match result.remove("details") {
        None | Some(Value::Null) => Object::new(),
        Some(Value::Object(details)) => details,
        Some(other) => return Err(format!("`details` is {other}, not an object")),
    };
    let metrics = result.get("metrics").and_then(metrics);
    if metrics.is_some() {
        result.remove("metrics");
    }
    let mut score = match (result.remove("score"), verdict.as_deref()) {
        (_, Some("undecided")) => {
            Score::undecided(rationale.clone().unwrap_or_else(|| "the command did not decide".to_owned()))
        }
        (Some(value), _) => match value.as_f64() {
            Some(number) if (0.0..=1.0).contains(&number) => Score::new(number),
            _ => return Err(format!("`score` is {value}, not a number from 0 to 1")),
        },
        (None, _) if assertions.is_empty() => {
            return Err("the result has neither `score` nor assertions".into());
        }
        (None, _) => Score::from_assertions(assertions.iter().cloned()),
    };
    score.assertions = assertions;
    score.metrics = metrics.unwrap_or_default();
    score.rationale = rationale;
    score.details = details;
    match (verdict, rule) {
        (Some(verdict), rule) if verdict == "fail" || verdict == "pass" && rule == VerdictRule::Decides => {
            score.verdict = Some(Verdict::from_passed(verdict == "pass"));
        }
        (Some(verdict), _) => score = score.with_detail("verdict", verdict),
        (None, _) => {}
    }
    if !result.is_empty() {
        score = score.with_detail("extra", Value::Object(result));
    }
    Ok(score)
}

/// Named measurements; `None` for anything but an object of numbers, which is kept as another key is.
fn metrics(value: &Value) -> Option<BTreeMap<String, f64>> {
    value.as_object()?.iter().map(|(name, value)| Some((name.clone(), value.as_f64()?))).collect()
}

fn text(result: &mut Object, key: &str) -> Result<Option<String>, String> {
    match result.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("`{key}` is {other}, not a text")),
    }
}

fn assertions(value: Value) -> Result<Vec<Assertion>, String> {
    let Value::Array(entries) = value else {
        return Err(format!("`assertions` is {value}, not a list"));
    };
    entries.into_iter().enumerate().map(|(index, entry)| assertion(index, &entry)).collect()
}

fn assertion(index: usize, entry: &Value) -> Result<Assertion, String> {
    let text = entry.get("text").and_then(Value::as_str);
    let passed = entry.get("passed").and_then(Value::as_bool);
    let (Some(text), Some(passed)) = (text, passed) else {
        return Err(format!("`assertions[{index}]` has no text `text` or no boolean `passed`"));
    };
    let mut assertion = Assertion::new(text, passed);
    let optional = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
    assertion.expected = optional("expected");
    assertion.actual = optional("actual");
    assertion.evidence = optional("evidence");
    Ok(assertion)
}
