//! Values with more levels of lists and objects than readers of records accept.

use evalsuite_schema::{Content, Message, Value};

/// Most levels of lists and objects in a reported value. Readers of JSON accept 127.
pub(crate) const MOST_LEVELS: usize = 100;

fn has_more_levels(value: &Value, most: usize) -> bool {
    match value {
        Value::Array(items) => most == 0 || items.iter().any(|item| has_more_levels(item, most - 1)),
        Value::Object(object) => most == 0 || object.values().any(|value| has_more_levels(value, most - 1)),
        _ => false,
    }
}

/// Replaces values that are too deep by a text that says so; returns whether there were any.
pub(crate) fn replace_too_deep<'v>(values: impl Iterator<Item = &'v mut Value>) -> bool {
    let mut found = false;
    for value in values.filter(|value| has_more_levels(value, MOST_LEVELS)) {
        *value = format!("(more than {MOST_LEVELS} levels)").into();
        found = true;
    }
    found
}

/// The values in a message whose form an agent chooses.
pub(crate) fn values_of(message: &mut Message) -> impl Iterator<Item = &mut Value> {
    let data = match &mut message.content {
        Some(Content::Data(value)) => Some(value),
        _ => None,
    };
    let calls = message.tool_calls.iter_mut().flat_map(|call| call.input.iter_mut().chain(&mut call.output));
    data.into_iter().chain(&mut message.metadata).chain(calls)
}
