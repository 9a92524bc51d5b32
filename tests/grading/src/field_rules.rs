//! Differences of a `field-accuracy` grader, field by field.

use std::collections::BTreeSet;

use evalsuite_schema::Value;
use fancy_regex::Regex;

use crate::graders::Graded;

/// Names of the rules.
pub const RULES: &[&str] = &["dates", "entire-string-is-a-number"];

/// The rules that explain the fields that differ, if our value is the share of the fields that match.
pub fn explain(cx: &Graded<'_>) -> Option<BTreeSet<&'static str>> {
    let fields = cx.grader["fields"].as_array().filter(|_| cx.kind() == "field-accuracy")?;
    let (ours, theirs) = (cx.ours.as_ref()?, cx.expected_texts());
    if theirs.len() != fields.len() || ours.assertions.len() != fields.len() {
        return None;
    }
    let mut rules = BTreeSet::new();
    let (mut hit, mut total, mut missed) = (0.0, 0.0, false);
    for ((field, theirs), assertion) in fields.iter().zip(&theirs).zip(&ours.assertions) {
        if *theirs != assertion.text {
            rules.insert(rule(cx, field, theirs, &assertion.text)?);
        }
        let is_left_out =
            [": optional field missing", ": no expected value"].iter().any(|end| assertion.text.ends_with(end));
        let weight = if is_left_out { 0.0 } else { field["weight"].as_f64().unwrap_or(1.0) };
        let passed = assertion.passed != ours.negated;
        total += weight;
        hit += if passed { weight } else { 0.0 };
        missed |= !passed;
    }
    let value = match cx.grader["aggregation"].as_str() {
        Some("all_or_nothing") => f64::from(u8::from(!missed)),
        _ => hit / total,
    };
    (!rules.is_empty() && cx.value().is_some_and(|own| (own - value).abs() < 1e-12)).then_some(rules)
}

fn rule(cx: &Graded<'_>, field: &Value, theirs: &str, ours: &str) -> Option<&'static str> {
    match field["match"].as_str()? {
        "numeric_tolerance" if ours.ends_with("(non-numeric value)") => Some("entire-string-is-a-number"),
        "date" if is_about_dates(cx, field, theirs, ours) => Some("dates"),
        _ => None,
    }
}

/// The order of `formats` matters, nonexistent days do not match, only the listed forms are dates, and a time zone does not
/// move a date without a time.
fn is_about_dates(cx: &Graded<'_>, field: &Value, theirs: &str, ours: &str) -> bool {
    let unreadable =
        |text: &str| ["candidate", "expected"].iter().any(|side| text.ends_with(&format!("(unparseable {side} date)")));
    match (unreadable(ours), unreadable(theirs)) {
        (true, _) => !ours_has_to_read(cx, field, ours),
        (false, true) => true,
        (false, false) => field["formats"].is_array() || cx.record.env.contains_key("TZ") || cx.has_tag("v8-date"),
    }
}

/// Whether the text that we cannot read is a day that exists, in a form that everybody reads.
fn ours_has_to_read(cx: &Graded<'_>, field: &Value, ours: &str) -> bool {
    let document = if ours.ends_with("(unparseable candidate date)") {
        evalsuite_schema::json::from_str(&cx.answer()).unwrap_or(Value::Null)
    } else {
        cx.evidence()["expected_output"].clone()
    };
    let path = field["path"].as_str().unwrap_or_default();
    let value = path.split('.').fold(&document, |value, key| &value[key]);
    let forms = [
        r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])$",
        r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T[01]\d:[0-5]\d(:[0-5]\d)?Z?$",
        r"^(0?[1-9]|1[0-2])([/-])(0?[1-9]|1[0-2])\2\d{4}$",
        r"(?i)^(0?[1-9]|1\d|2[0-8])-(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)-\d{4}$",
    ];
    let fits = |form: &str| {
        Regex::new(form).is_ok_and(|form| form.is_match(value.as_str().unwrap_or_default()).unwrap_or(false))
    };
    forms.into_iter().any(fits)
}
