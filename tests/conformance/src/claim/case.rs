//! Cases: ids, input, messages, reference answers, conversations, dependencies.

use evalsuite_schema::Value;
use evalsuite_schema::diagnostics::Code;
use unicode_normalization::UnicodeNormalization as _;

use super::{Claim, ensure, lacks};

const ROLES: &[&str] = &["system", "user", "assistant", "tool"];
const IMAGES: &[&str] = &["png", "jpg", "jpeg", "gif", "webp", "svg", "bmp"];

pub(super) fn check(claim: &Claim<'_>) -> Result<(), String> {
    let value = claim.value();
    match claim.code {
        Code::DuplicateId => duplicate(claim),
        Code::TestNameCollision => collision(claim),
        Code::MissingInput => missing_input(claim),
        Code::NothingToGrade => match claim.mapping() {
            Some(case) => {
                let keys = ["criteria", "expected_outcome", "expected_output", "turns", "mode"];
                let lists = ["assertions", "assert", "evaluators", "rubrics"];
                let filled = |key: &&str| case.get(key).and_then(Value::as_array).is_some_and(|list| !list.is_empty());
                let graded = keys.iter().any(|key| !lacks(case, key)) || lists.iter().any(filled);
                ensure(!graded, || "there is something to grade".to_owned())
            }
            None => ensure(claim.needs_rest_of_file() || value == Some(&Value::Null), || "there is no case".to_owned()),
        },
        Code::InvalidInput => {
            let is_other = claim.place.text.as_deref().is_some_and(super::values::is_other_number);
            let names_file = value.and_then(Value::as_str).is_some_and(|text| text.trim().starts_with("file://"));
            ensure(is_other || names_file || value.is_some_and(|value| !value.is_string() && !value.is_array()), || {
                "that is an input".to_owned()
            })
        }
        Code::InputFilesWithMessages => {
            let has_list = claim.record.texts().any(|(_, text)| text.contains("input_files"));
            ensure(has_list, || "there are no `input_files`".to_owned())
        }
        Code::InvalidMessage => invalid_message(claim, value),
        Code::InvalidContentPart => invalid_part(value),
        Code::InvalidExpectedOutput => invalid_expected(claim, value),
        Code::ConversationMismatch => conversation(claim),
        Code::UnknownDependency => {
            let name = value.and_then(Value::as_str).unwrap_or_default();
            let own = claim.message.contains("itself");
            ensure(own || !ids(claim).iter().any(|id| id == name), || format!("`{name}` is a case"))
        }
        Code::DependencyCycle => {
            let names: Vec<&str> = claim.message.rsplit(": ").next().unwrap_or_default().split(" -> ").collect();
            ensure(names.len() > 2 && names.first() == names.last(), || "that is not a cycle".to_owned())
        }
        Code::InvalidTarget => {
            let name = claim.quoted.first().copied().unwrap_or_default();
            let is_there =
                value.and_then(Value::as_str).map(str::trim) == Some(name) || value.is_some_and(Value::is_object);
            ensure(is_there, || format!("`{name}` is not there"))
        }
        _ => ensure(value.and_then(Value::as_str).is_some_and(|text| text.contains("@[")), || {
            "there is no marker".to_owned()
        }),
    }
}

/// Ids of the tests that the reference loaded.
fn ids(claim: &Claim<'_>) -> Vec<String> {
    let tests = claim.record.expected()["tests"].as_array().into_iter().flatten();
    tests.filter_map(|test| test["id"].as_str().map(str::to_owned)).collect()
}

fn duplicate(claim: &Claim<'_>) -> Result<(), String> {
    let id = claim.quoted.first().copied().unwrap_or_default();
    let loaded = ids(claim).iter().filter(|known| *known == id).count();
    let written: usize =
        claim.record.texts().map(|(path, text)| text.matches(id).count() + usize::from(path.contains(id))).sum();
    ensure(loaded >= 2 || written >= 2, || format!("`{id}` occurs once"))
}

/// Two ids or directories that differ only in characters that a Rust name cannot contain.
fn collision(claim: &Claim<'_>) -> Result<(), String> {
    let fold = |text: &str| -> String {
        let name = text.rsplit('/').find(|part| !matches!(*part, "case.yaml" | "case.yml")).unwrap_or(text);
        let folded: String = name.nfc().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        folded.trim_matches('_').to_owned()
    };
    let (Some(first), Some(second)) = (claim.quoted.first(), claim.quoted.get(1)) else {
        return Err("it does not name two cases".to_owned());
    };
    ensure(first != second && fold(first) == fold(second), || "the names differ".to_owned())
}

fn missing_input(claim: &Claim<'_>) -> Result<(), String> {
    match claim.value() {
        Some(Value::Object(case)) => ensure(lacks(case, "input"), || "there is an input".to_owned()),
        Some(Value::String(text)) if text == "input" => {
            let value = claim.place.value_of_key();
            ensure(value.as_ref().is_none_or(Value::is_null), || format!("`input` is {value:?}"))
        }
        Some(Value::String(text)) => ensure(text.is_empty(), || "there is an input".to_owned()),
        Some(Value::Array(items)) => ensure(items.is_empty(), || "there are messages".to_owned()),
        _ => ensure(claim.needs_rest_of_file(), || "there is something else".to_owned()),
    }
}

fn invalid_message(claim: &Claim<'_>, value: Option<&Value>) -> Result<(), String> {
    let wrong = match value {
        Some(value) if claim.message.starts_with("`role` must be text") => !value.is_string(),
        Some(value) if claim.message.starts_with("a message must be a mapping") => !value.is_object(),
        Some(Value::Object(message)) => {
            let calls = message.get("tool_calls").and_then(Value::as_array).is_some_and(|calls| !calls.is_empty());
            let role = message.get("role").and_then(Value::as_str).is_some_and(|role| ROLES.contains(&role));
            !role || lacks(message, "content") && !calls
        }
        // The role itself, or an element that is not a message.
        Some(Value::String(text)) => !ROLES.contains(&text.as_str()),
        Some(_) => true,
        None => claim.needs_rest_of_file(),
    };
    ensure(wrong, || "that is a message".to_owned())
}

fn invalid_part(value: Option<&Value>) -> Result<(), String> {
    let wrong = match value {
        Some(Value::Object(part)) => {
            let kind = part.get("type").and_then(Value::as_str);
            !matches!(kind, Some("text" | "file" | "image")) || !part.get("value").is_some_and(Value::is_string)
        }
        // The type itself, or the path of an image.
        Some(Value::String(text)) => {
            let extension = text.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
            !matches!(text.as_str(), "text" | "file" | "image") && !IMAGES.contains(&extension.as_str())
        }
        Some(_) => true,
        None => false,
    };
    ensure(wrong, || "that is a part".to_owned())
}

fn invalid_expected(claim: &Claim<'_>, value: Option<&Value>) -> Result<(), String> {
    let wrong = match value {
        Some(Value::String(text)) => text.is_empty() || claim.message.starts_with("an element"),
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::Object(message)) => !message.contains_key("role"),
        Some(_) => true,
        None => false,
    };
    ensure(wrong, || "that is a reference answer".to_owned())
}

fn conversation(claim: &Claim<'_>) -> Result<(), String> {
    let key = claim.place.text.as_deref().unwrap_or_default().trim_matches('"');
    let settings = ["turns", "mode", "expected_output", "aggregation", "on_turn_failure", "window_size"];
    if settings.contains(&key) {
        return Ok(());
    }
    let wrong = match claim.value() {
        Some(Value::Object(turn)) => lacks(turn, "input"),
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        Some(_) => true,
        None => false,
    };
    ensure(wrong, || "that fits a conversation".to_owned())
}
