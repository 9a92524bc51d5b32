//! Settings of graders, workspaces and targets.

use evalsuite_schema::Value;
use evalsuite_schema::diagnostics::Code;

use super::{Claim, ensure, format_tables, lacks};

pub(super) fn check(claim: &Claim<'_>) -> Result<(), String> {
    let value = claim.value();
    match claim.code {
        Code::RemovedGraderType => {
            let removed = ["code-judge", "llm-judge", "code_judge", "llm_judge"];
            ensure(value.and_then(Value::as_str).is_some_and(|text| removed.contains(&text)), || {
                "that type exists".to_owned()
            })
        }
        Code::MissingGraderSetting => missing_setting(claim),
        Code::InvalidRegex => {
            if claim.message.contains("does not compile") {
                // The place is the fault in the pattern.
                let is_fault = |text: &str| fancy_regex::Regex::new(text).is_err();
                return ensure(claim.place.texts_around().iter().any(|text| is_fault(text)), || {
                    "it compiles".to_owned()
                });
            }
            let text = value.and_then(Value::as_str).unwrap_or_default();
            let is_flags =
                text.chars().enumerate().all(|(at, flag)| "imsxugy".contains(flag) && !text[..at].contains(flag));
            ensure(!is_flags, || "those are flags".to_owned())
        }
        Code::InvalidScoreRanges => score_ranges(claim),
        Code::InvalidRubric => match value {
            Some(Value::Object(criterion)) => {
                ensure(lacks(criterion, "outcome") || claim.message.contains("id"), || "there is an outcome".to_owned())
            }
            Some(Value::Number(number)) => {
                let mark = number.as_f64().unwrap_or_default();
                let within = mark > 0.0 && mark <= 1.0;
                ensure(!within || mark.fract() != 0.0, || "that is a mark".to_owned())
            }
            Some(Value::Array(items)) => ensure(items.is_empty(), || "there are criteria".to_owned()),
            Some(_) => Ok(()),
            None => ensure(claim.needs_rest_of_file(), || "there is nothing".to_owned()),
        },
        Code::InvalidCommand => {
            let blank = match value {
                Some(Value::String(text)) if claim.message.starts_with("the program in ") => {
                    text.contains(char::is_whitespace)
                }
                Some(Value::String(text)) => text.trim().is_empty(),
                Some(Value::Array(items)) => items.is_empty(),
                _ => false,
            };
            ensure(blank, || "that is a command".to_owned())
        }
        Code::ZeroTotalWeight => {
            let zero = claim.record.texts().any(|(_, text)| {
                // A composite may have the weights of its members by name.
                let by_name = text.contains("weights") && (text.contains(": 0") || text.contains("\":0"));
                text.contains("weight: 0") || text.contains("\"weight\":0") || by_name
            });
            ensure(zero, || "there is no weight 0".to_owned())
        }
        Code::FieldNotInExpected => {
            let accuracy = claim
                .record
                .texts()
                .any(|(_, text)| text.contains("field-accuracy") || text.contains("field_accuracy"));
            ensure(accuracy, || "no fields are compared".to_owned())
        }
        Code::InvalidHook => match claim.place.text.as_deref() {
            Some(key) if claim.message.starts_with("unknown hook") => {
                ensure(!format_tables::HOOKS.contains(&key), || "that hook exists".to_owned())
            }
            _ => ensure(
                value.is_none_or(|value| {
                    value.as_object().is_none_or(|hook| lacks(hook, "command") && lacks(hook, "script"))
                }),
                || "that is a hook".to_owned(),
            ),
        },
        Code::InvalidRepo => match value {
            Some(Value::Object(repo)) => {
                let complete = !lacks(repo, "path") && !lacks(repo, "source");
                let source = !lacks(repo, "type") && (!lacks(repo, "url") || !lacks(repo, "path"));
                ensure(!complete && !source || claim.message.contains("two repos"), || {
                    "the repo is complete".to_owned()
                })
            }
            Some(Value::String(text)) if claim.message.starts_with("`type`") => {
                ensure(text != "git" && text != "local", || "that is a source".to_owned())
            }
            Some(Value::String(_)) => not_there(claim, value),
            _ => Ok(()),
        },
        Code::UnsupportedDocker => at_key(claim, &["docker"]),
        Code::UnsupportedWorkspace => match value.and_then(Value::as_str) {
            Some("static" | "shared") => Ok(()),
            Some(text) if text.ends_with(".code-workspace") => Ok(()),
            _ => at_key(claim, &["path", "static_path", "pool", "static"]),
        },
        Code::PromptWithoutAnswer => {
            let text = claim.place.file_text.as_deref().unwrap_or_default();
            let squeezed: String = text.split_whitespace().collect();
            let names = ["{{output}}", "{{expected_output}}", "{{output_text}}", "{{expected_output_text}}"];
            ensure(!names.iter().any(|name| squeezed.contains(name)), || "the template shows the answer".to_owned())
        }
        Code::SettingConflict if claim.message.starts_with("a minimum") => {
            let ranges = claim
                .record
                .texts()
                .any(|(_, text)| text.contains("score_ranges:") || text.contains("\"score_ranges\""));
            let key = claim.place.text.as_deref().unwrap_or_default();
            ensure(!ranges && key.contains("min_score"), || "there are ranges".to_owned())
        }
        Code::InvalidComposite if claim.message.starts_with("two members") => {
            ensure(claim.related.len() == 1, || "it names no second member".to_owned())
        }
        // A file that is missing next to the entry is not mentioned in the files.
        Code::NoSuiteFile | Code::AmbiguousLayout => {
            ensure(claim.place.path.exists(), || "there is nothing".to_owned())
        }
        // The remaining codes are conflicting settings and warnings: what they name has to occur in the files. Blanks in
        // braces may differ.
        _ => {
            let squeeze = |text: &str| text.split_whitespace().collect::<String>();
            let is_there = |word: &&str| {
                claim.value().and_then(Value::as_str) == Some(*word)
                    || claim.record.texts().any(|(_, text)| squeeze(text).contains(&squeeze(word)))
            };
            let named = claim.quoted.iter().any(is_there);
            ensure(named || claim.quoted.is_empty(), || "nothing it names occurs in the files".to_owned())
        }
    }
}

fn at_key(claim: &Claim<'_>, keys: &[&str]) -> Result<(), String> {
    let there = claim.value().and_then(Value::as_str).unwrap_or_default();
    ensure(keys.contains(&there), || "there is another key".to_owned())
}

/// A local source, or a path in the workspace.
fn not_there(claim: &Claim<'_>, value: Option<&Value>) -> Result<(), String> {
    let text = value.and_then(Value::as_str).unwrap_or_default();
    let there = super::paths::places(claim).iter().any(|place| super::paths::resolve(&place.join(text)).is_dir());
    ensure(!there || text.starts_with("..") || claim.message.contains("meaning"), || "it is there".to_owned())
}

fn missing_setting(claim: &Claim<'_>) -> Result<(), String> {
    match claim.value() {
        Some(Value::Object(grader)) => {
            let key = claim.quoted.first().copied().unwrap_or_default();
            ensure(lacks(grader, key) || claim.message.contains("judge by"), || format!("`{key}` is there"))
        }
        Some(Value::Array(items)) => ensure(items.is_empty(), || "the list is not empty".to_owned()),
        Some(Value::String(key)) if claim.quoted.first() == Some(&key.as_str()) => {
            let value = claim.place.value_of_key();
            ensure(value.as_ref().is_none_or(Value::is_null), || format!("`{key}` is {value:?}"))
        }
        _ => ensure(claim.needs_rest_of_file(), || "there is no grader".to_owned()),
    }
}

/// The ranges at the location do not cover 0 to 10 exactly once.
fn score_ranges(claim: &Claim<'_>) -> Result<(), String> {
    let Some(Value::Array(items)) = claim.value() else { return Ok(()) };
    let bounds: Vec<(f64, f64)> = items
        .iter()
        .filter_map(|item| item["score_range"].as_array().filter(|range| range.len() == 2))
        .filter_map(|range| Some((range.first()?.as_f64()?, range.get(1)?.as_f64()?)))
        .collect();
    let covered = |score: f64| bounds.iter().filter(|(low, high)| *low <= score && score <= *high).count();
    let fits = bounds.len() == items.len() && (0..=10).all(|score| covered(f64::from(score)) == 1);
    ensure(!fits, || "the ranges cover 0 to 10".to_owned())
}
