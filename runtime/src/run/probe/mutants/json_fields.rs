//! Fields of JSON that are dropped, renamed or changed.

use evalsuite_schema::json::{from_str, to_string_pretty};
use evalsuite_schema::{Object, Value};

use crate::run::made_up::MadeUpReply;
use crate::run::probe::mutants::{Broken, shown, with_answer};

/// The document without its first and without its last field, with another name for the first one, and with a value that is turned.
pub(super) fn broken(reply: &MadeUpReply) -> Vec<Broken> {
    let Ok(Value::Object(document)) = from_str::<Value>(&reply.answer) else { return Vec::new() };
    let mut found = Vec::new();
    let mut add = |document: Object, detail: String| {
        // A document of this program is JSON.
        let text = to_string_pretty(&Value::Object(document)).unwrap_or_default();
        found.push(with_answer(reply, text, detail));
    };
    let (first, last) = (document.keys().next(), document.keys().next_back());
    for name in first.into_iter().chain(last.filter(|last| Some(*last) != first)) {
        let mut rest = document.clone();
        rest.remove(name);
        add(rest, format!("the field {} was dropped", shown(name)));
    }
    if let Some(name) = first {
        let renamed = document.iter().map(|(key, value)| {
            let key = if key == name { format!("{key}_") } else { key.clone() };
            (key, value.clone())
        });
        add(renamed.collect(), format!("the field {} was renamed", shown(name)));
    }
    let mut turned = document.clone();
    let found_boolean = turned.iter_mut().find_map(|(name, value)| Some((name.clone(), turn(value)?)));
    if let Some((name, became)) = found_boolean {
        add(turned, format!("the field {} became {became}", shown(&name)));
    }
    found
}

/// Turns the first boolean in a value; returns what it became.
fn turn(value: &mut Value) -> Option<bool> {
    match value {
        Value::Bool(value) => {
            *value = !*value;
            Some(*value)
        }
        Value::Array(items) => items.iter_mut().find_map(turn),
        Value::Object(object) => object.values_mut().find_map(turn),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_dropped_renamed_and_turned() {
        let reply = MadeUpReply::new(r#"{"a": 1, "b": [{"c": false}]}"#, Vec::new());
        let documents: Vec<String> = broken(&reply)
            .into_iter()
            .map(|broken| from_str::<Value>(&broken.reply.answer).unwrap().to_string())
            .collect();
        assert_eq!(
            documents,
            [r#"{"b":[{"c":false}]}"#, r#"{"a":1}"#, r#"{"a_":1,"b":[{"c":false}]}"#, r#"{"a":1,"b":[{"c":true}]}"#]
        );
        assert!(broken(&MadeUpReply::new("[1]", Vec::new())).is_empty());
    }
}
