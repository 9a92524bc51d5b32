//! Replaces `${{ NAME }}` as the reference does at load time.

use evalsuite_schema::Value;

use crate::record::Record;

/// Replaces `${{ NAME }}` by the record's variables, unset ones by nothing. Returns whether anything changed.
pub(super) fn apply(value: &mut Value, record: &Record) -> bool {
    match value {
        Value::String(text) => {
            let resolved = resolve(text, record);
            let changed = resolved != *text;
            *text = resolved;
            changed
        }
        Value::Array(items) => items.iter_mut().fold(false, |any, item| apply(item, record) | any),
        Value::Object(entries) => entries.values_mut().fold(false, |any, item| apply(item, record) | any),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Removes what the reference drops because a string in it is empty: graders, criteria, fields, hooks.
pub(super) fn without_blank(value: &mut Value) {
    const TEXTS: &[&str] = &["value", "skill", "text", "outcome", "path", "command", "tool"];
    const LISTS: &[&str] = &["rubrics", "fields", "hooks"];
    let is_blank = |item: &Value| {
        TEXTS.iter().any(|key| item[*key] == "")
            || LISTS.iter().any(|key| {
                item[*key].as_array().is_some_and(Vec::is_empty)
                    || item[*key].as_object().is_some_and(evalsuite_schema::Object::is_empty)
            })
    };
    match value {
        Value::Array(items) => {
            items.iter_mut().for_each(without_blank);
            items.retain(|item| !is_blank(item));
        }
        Value::Object(entries) => {
            entries.values_mut().for_each(without_blank);
            let is_empty = |item: &Value| item.as_object().is_some_and(evalsuite_schema::Object::is_empty);
            entries.retain(|key, item| !(is_blank(item) || key == "hooks" && is_empty(item)));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether a line has a value that consists only of variables, all of them unset or empty.
pub(super) fn leaves_blank(text: &str, record: &Record) -> bool {
    text.match_indices("${{").any(|(start, _)| {
        let end = text[start..].find("}}").map_or(text.len(), |end| start + end + 2);
        let before = text[..start].trim_end_matches(['"', '\'', ' ']);
        before.ends_with([':', '[', ',', '-']) && resolve(&text[start..end], record).trim().is_empty()
    })
}

fn resolve(text: &str, record: &Record) -> String {
    let mut resolved = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${{") {
        resolved.push_str(before);
        let name = after.split_once("}}").map(|(name, tail)| (name.trim(), tail)).filter(|(name, _)| is_name(name));
        match name {
            Some((name, tail)) => {
                resolved.push_str(record.env.get(name).map_or("", String::as_str));
                rest = tail;
            }
            None => {
                resolved.push_str("${{");
                rest = after;
            }
        }
    }
    resolved + rest
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
