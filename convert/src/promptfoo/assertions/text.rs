//! Assertions that look for text.

use evalsuite_schema::json::json;

use super::{CaseContext, Check, Grader};
use crate::promptfoo::template;
use crate::promptfoo::values::comma_list;

/// promptfoo's distance without a threshold.
const DISTANCE: f64 = 5.0;

pub(super) fn map(check: &Check<'_>, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    if check.kind.ends_with("-any") || check.kind.ends_with("-all") {
        return lists(check);
    }
    let value = check.value.as_ref().ok_or("it has no value")?;
    if check.kind == "equals" && (value.items().is_some() || !value.entries().is_empty()) {
        return super::json::equals(check, context);
    }
    let text = check.text().unwrap_or_default();
    match check.kind {
        "regex" => regex(check, &text, context),
        "levenshtein" => levenshtein(check, &text, context),
        kind => {
            if kind == "equals" && text.trim().is_empty() {
                context.report.approximated(check.place(), "blanks around the answer are not compared");
                return Ok(Grader::new(json!({"type": "regex", "value": r"\A\s*\z"})).negated(check.is_negated));
            }
            if text.is_empty() {
                return Err("its value is empty".to_owned());
            }
            if matches!(kind, "equals" | "starts-with") {
                context.report.approximated(check.place(), "blanks around the answer and the text are not compared");
            }
            Ok(Grader::new(json!({"type": kind, "value": text})).negated(check.is_negated))
        }
    }
}

fn lists(check: &Check<'_>) -> Result<Grader, String> {
    Ok(Grader::new(json!({"type": check.kind, "value": list(check)?})).negated(check.is_negated))
}

/// The texts of an assertion that looks for several.
pub(super) fn list(check: &Check<'_>) -> Result<Vec<String>, String> {
    let value = check.value.as_ref().ok_or("it has no value")?;
    let texts: Vec<String> = match value.items() {
        Some(items) => items.iter().map(|item| template::javascript_text(&item.to_json())).collect(),
        None => comma_list(&check.text().unwrap_or_default()),
    };
    if texts.is_empty() || texts.iter().any(String::is_empty) {
        return Err("a text to look for is empty".to_owned());
    }
    Ok(texts)
}

fn regex(check: &Check<'_>, pattern: &str, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    if pattern.is_empty() {
        return Err("its value is empty".to_owned());
    }
    if let Err(error) = fancy_regex::Regex::new(pattern) {
        return Err(format!("the pattern does not compile here: {error}"));
    }
    if ["\\d", "\\w", "\\s", "\\b", "\\D", "\\W", "\\S", "\\B"].iter().any(|class| pattern.contains(class)) {
        context.report.approximated(check.place(), "classes such as `\\w` and `\\d` are those of Unicode");
    }
    Ok(Grader::new(json!({"type": "regex", "value": pattern})).negated(check.is_negated))
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of characters that is not negative"
)]
fn levenshtein(check: &Check<'_>, text: &str, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    if text.is_empty() {
        return Err("its value is empty".to_owned());
    }
    let threshold = check.threshold.unwrap_or(DISTANCE);
    if threshold < 0.0 {
        return Err("its threshold is below 0, so it never passes".to_owned());
    }
    if threshold == 0.0 {
        context.report.approximated(check.place(), "older versions of promptfoo take a threshold of 0 for 5");
    }
    context.report.approximated(check.place(), "blanks around the answer and the text are not counted");
    Ok(Grader::new(json!({"type": "similar", "value": text, "max_distance": threshold.floor() as u64}))
        .negated(check.is_negated))
}
