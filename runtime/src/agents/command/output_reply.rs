//! The reply of a command, as a JSON object.

use std::path::Path;

use evalsuite_records::record::{Note, Usage};
use evalsuite_schema::diagnostics::suggest::nearest;
use evalsuite_schema::{Message, Object, Value};

use crate::agents::command::invalid_output::{text, value, wrong_type};
use crate::agents::command::output_message;
use crate::model::outcome::{Outcome, is_amount};

/// Keys that make a JSON object a reply.
pub(crate) const KEYS: [&str; 7] =
    ["text", "output", "output_messages", "token_usage", "cost_usd", "duration_ms", "state"];

/// Those that no other JSON is likely to have.
pub(crate) const KEYS_OF_SPENDING: [&str; 3] = ["token_usage", "cost_usd", "output_messages"];

/// Keys, and what other programs call them.
const SYNONYMS: [(&str, &[&str]); 5] = [
    (
        "text",
        &["answer", "response", "reply", "result", "content", "message", "completion", "final_answer", "output_text"],
    ),
    ("output", &["messages", "transcript", "history", "conversation"]),
    ("token_usage", &["usage", "tokens"]),
    ("cost_usd", &["cost", "price", "total_cost", "total_cost_usd"]),
    ("duration_ms", &["duration", "latency", "latency_ms", "elapsed_ms"]),
];

/// What a reply reports.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    /// What can be read of it.
    pub(crate) outcome: Outcome,
    pub(crate) notes: Vec<Note>,
    /// The first value that cannot be read.
    pub(crate) problem: Option<String>,
}

impl Reply {
    /// The value of a key, if it can be read.
    fn take<T>(&mut self, read: Result<Option<T>, String>) -> Option<T> {
        read.unwrap_or_else(|problem| {
            self.problem.get_or_insert(problem);
            None
        })
    }
}

/// Reads a reply. Paths in it are relative to `directory`.
pub(crate) fn read(object: &Object, directory: &Path) -> Reply {
    let (mut reply, mut notes) = (Reply::default(), Vec::new());
    let is_set = |key: &str| object.get(key).is_some_and(|value| !value.is_null());
    if is_set("output") && is_set("output_messages") {
        reply.problem = Some("`output` and `output_messages` are two names of one key; keep one".to_owned());
    }
    for key in ["output_messages", "output"] {
        let list = reply.take(value(object, key, "a list of messages", Value::as_array));
        if let Some(list) = list {
            reply.outcome.messages = Some(messages(list, key, directory, &mut reply.problem));
        }
    }
    // The messages say what the answer is, if there are any.
    let is_answer = reply.outcome.messages.as_ref().is_none_or(Vec::is_empty);
    reply.outcome.text = reply.take(text(object, "text")).filter(|_| is_answer).map(str::to_owned);
    let spent =
        value(object, "token_usage", "an object", Value::as_object).and_then(|spent| spent.map(usage).transpose());
    reply.outcome.usage = reply.take(spent);
    reply.outcome.cost_usd = reply.take(amount(object, "cost_usd", &mut notes));
    reply.outcome.duration_ms = reply.take(amount(object, "duration_ms", &mut notes));
    reply.outcome.state =
        reply.take(value(object, "state", "an object", Value::as_object)).cloned().unwrap_or_default();
    for (key, meant) in misspelled(object) {
        if ["text", "output"].contains(&meant) && !is_set("text") && !is_set("output") && !is_set("output_messages") {
            let problem = format!("the JSON object has no answer; did you mean `{meant}` in place of `{key}`?");
            reply.problem.get_or_insert(problem);
        } else if !is_set(meant) {
            notes.push(ignored(format!("`{key}` of the output file is ignored; did you mean `{meant}`?")));
        }
    }
    reply.notes = notes;
    reply
}

/// The messages of a list up to the first that cannot be read.
fn messages(list: &[Value], key: &str, directory: &Path, problem: &mut Option<String>) -> Vec<Message> {
    let mut messages = Vec::new();
    for (index, value) in list.iter().enumerate() {
        match output_message::read(value, directory) {
            Ok(message) => messages.push(message),
            Err(cause) => {
                problem.get_or_insert(format!("message {} of `{key}`: {cause}", index + 1));
                break;
            }
        }
    }
    messages
}

/// Unknown keys that are probably known ones, and these.
pub(crate) fn misspelled(object: &Object) -> impl Iterator<Item = (&str, &'static str)> {
    let meant = |key: &str| {
        let synonym = SYNONYMS.iter().find(|(_, others)| others.contains(&key)).map(|(known, _)| *known);
        synonym.or_else(|| nearest(key, KEYS).first().copied())
    };
    let unknown = object.keys().map(String::as_str).filter(|key| !KEYS.contains(key));
    unknown.filter_map(move |key| Some((key, meant(key)?)))
}

fn usage(object: &Object) -> Result<Usage, String> {
    let tokens = |key: &str| match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(count) => count
            .as_u64()
            .map(Some)
            .ok_or_else(|| wrong_type(&format!("token_usage.{key}"), "an integer of at least 0", count)),
    };
    let required = |key: &str| tokens(key)?.ok_or_else(|| format!("`token_usage` has no `{key}`"));
    let usage = Usage::new(required("input")?, required("output")?);
    let (cached, reasoning) = (tokens("cached")?, tokens("reasoning")?);
    Ok(usage.with_cached(cached.unwrap_or_default()).with_reasoning(reasoning.unwrap_or_default()))
}

fn amount(object: &Object, key: &str, notes: &mut Vec<Note>) -> Result<Option<f64>, String> {
    let number = value(object, key, "a number", Value::as_f64)?;
    let amount = number.filter(|number| is_amount(*number));
    if let (Some(number), None) = (number, amount) {
        notes.push(ignored(format!("`{key}` of the output file is {number}, which is ignored")));
    }
    Ok(amount)
}

fn ignored(message: String) -> Note {
    Note::new("output_ignored", message)
}
