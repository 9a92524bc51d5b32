//! Values: wrong type, blank, not a valid choice, out of range.

use evalsuite_schema::Value;
use evalsuite_schema::diagnostics::Code;

use super::{Claim, ensure, format_tables};
use crate::source_excerpt::kind;

pub(super) fn check(claim: &Claim<'_>) -> Result<(), String> {
    let Some(value) = claim.value() else {
        if claim.place.text.as_deref().is_some_and(is_other_number) {
            return Ok(());
        }
        return ensure(claim.needs_rest_of_file() || claim.place.text.is_none(), || "there is no value".to_owned());
    };
    match claim.code {
        Code::WrongType => wrong_type(claim, value),
        Code::BlankValue => ensure(is_blank(value), || "the value is not blank".to_owned()),
        Code::InvalidChoice => {
            let key = claim.quoted.first().copied().unwrap_or_default();
            let choices =
                format_tables::CHOICES.iter().find(|(known, _)| *known == key).map_or(&[][..], |(_, choices)| choices);
            // The key has other choices elsewhere.
            let choices = if key == "mode" { claim.quoted.get(2..).unwrap_or_default() } else { choices };
            ensure(value.as_str().is_some_and(|text| !choices.contains(&text)), || format!("`{key}` may be that"))
        }
        Code::OutOfRange => out_of_range(claim, value),
        Code::InterpolationNotAllowed => ensure(value.as_str().is_some_and(|text| text.contains("${{")), || {
            "nothing is interpolated there".to_owned()
        }),
        // The location of a block scalar is its first line.
        Code::InvalidId if claim.message.contains("control character") && value.is_string() => {
            let text = claim.place.file_text.as_deref().unwrap_or_default();
            let line = text.lines().nth((claim.place.start.line as usize).saturating_sub(2)).unwrap_or_default();
            let in_block = line.contains(['|', '>']);
            let holds = |text: &str| text.chars().any(char::is_control);
            let there = value.as_str().is_some_and(holds) || claim.place.text.as_deref().is_some_and(holds);
            let here = text.lines().nth(claim.place.start.line as usize - 1).unwrap_or_default();
            ensure(there || in_block || here.contains(['|', '>']), || "there is no control character".to_owned())
        }
        Code::InvalidId => {
            let text = value.as_str();
            let wrong = text.is_none_or(|text| text.trim().is_empty() || text.chars().any(char::is_control));
            ensure(wrong || value.is_object(), || "that is an id".to_owned())
        }
        Code::InvalidSuiteName => {
            let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
            let text = value.as_str().unwrap_or_default();
            let fits = !text.is_empty() && text.chars().count() <= 64 && text.chars().all(allowed);
            ensure(!fits, || "that is a name".to_owned())
        }
        Code::InvalidWeight => {
            ensure(value.as_f64().is_none_or(|weight| weight < 0.0), || "that is a weight".to_owned())
        }
        // A deprecated mark: the number itself, or its key.
        _ => {
            let is_key =
                value == "required_min_score" && claim.place.value_of_key().is_some_and(|value| value.is_number());
            ensure(value.is_number() || is_key, || "there is no number".to_owned())
        }
    }
}

/// Numbers of YAML 1.2 that the second reader does not recognise, and numbers of YAML 1.1 that it does.
pub(super) fn is_other_number(text: &str) -> bool {
    let digits = text.trim_start_matches(['-', '+']);
    let based = ["0x", "0o", "0b"].iter().any(|base| digits.starts_with(base));
    let is_plain = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    based || is_plain && (digits.starts_with('0') || digits.len() > 18)
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// ``X must be T, found K``: the value is K, K is not T, and the format requires T for X.
fn wrong_type(claim: &Claim<'_>, value: &Value) -> Result<(), String> {
    if claim.message.contains("not finite") {
        let text = claim.place.text.as_deref().unwrap_or_default().to_ascii_lowercase();
        let is_huge = text.parse::<f64>().is_ok_and(|number| !number.is_finite());
        return ensure(text.ends_with(".inf") || text.ends_with(".nan") || is_huge, || {
            "that number is finite".to_owned()
        });
    }
    let Some((what, rest)) = claim.message.split_once(" must be ") else {
        return Err("it does not name the value".to_owned());
    };
    let Some((needed, found)) = rest.rsplit_once(", found ") else {
        return Err("it does not say what it found".to_owned());
    };
    if needed == "a whole number" && value.is_number() {
        ensure(value.as_f64().is_some_and(|number| number.fract() != 0.0), || "that is a whole number".to_owned())?;
    } else {
        let is_other = claim.place.text.as_deref().is_some_and(is_other_number);
        ensure(kind(value) == found || is_other, || format!("there is {}", kind(value)))?;
        ensure(!fits(value, needed), || format!("that is {needed}"))?;
    }
    let key = what.trim_matches('`');
    match format_tables::TYPES.iter().find(|(known, _)| *known == key) {
        Some((_, types)) => ensure(types.contains(&needed), || format!("`{key}` may be something other than {needed}")),
        None => Ok(()),
    }
}

fn fits(value: &Value, needed: &str) -> bool {
    match needed {
        "text" => value.is_string(),
        "a number" => value.is_number(),
        "a list" => value.is_array(),
        "a mapping" | "a mapping of tools to numbers" | "a mapping of members to numbers" => value.is_object(),
        "`true` or `false`" => value.is_boolean(),
        "text or a list of text" => value.is_string() || value.is_array(),
        _ => false,
    }
}

/// ``X is N, which is not R``: the value is N, N is outside R, and the format requires R for X.
fn out_of_range(claim: &Claim<'_>, value: &Value) -> Result<(), String> {
    if let Some((_, most)) = claim.message.split_once(", which is more than ") {
        let most: f64 = most.parse().map_err(|_| "that is not a number".to_owned())?;
        return ensure(value.as_f64().is_some_and(|number| number > most), || format!("it is not more than {most}"));
    }
    let Some((_, range)) = claim.message.split_once(", which is not ") else {
        return match claim.quoted.first().copied() {
            Some("targets") => ensure(value.as_array().is_some_and(Vec::is_empty), || "it is not empty".to_owned()),
            Some("description") => {
                ensure(value.as_str().is_some_and(|text| text.chars().count() > 1024), || "it is short".to_owned())
            }
            Some("evalsuite") => ensure(value.is_string(), || "it is not a string".to_owned()),
            _ => ensure(value.as_f64().is_some_and(|number| !number.is_finite() || number.abs() > 1e300), || {
                "nothing is out of range there".to_owned()
            }),
        };
    };
    let Some(number) = value.as_f64() else { return Err("there is no number".to_owned()) };
    ensure(!is_within(number, range), || format!("{number} is {range}"))?;
    let key = claim.quoted.first().copied().unwrap_or_default();
    match format_tables::RANGES.iter().find(|(known, _)| *known == key) {
        Some((_, ranges)) => ensure(ranges.contains(&range), || format!("`{key}` may be something other than {range}")),
        None => Ok(()),
    }
}

fn is_within(number: f64, range: &str) -> bool {
    let numbers: Vec<f64> = range.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
    match (range, numbers.as_slice()) {
        ("a number greater than 0", _) => number > 0.0,
        ("a number greater than 0 and at most 1", _) => number > 0.0 && number <= 1.0,
        (_, [low]) if range.contains("at least") => number >= *low,
        (_, [low, high]) => number >= *low && number <= *high,
        _ => false,
    }
}
