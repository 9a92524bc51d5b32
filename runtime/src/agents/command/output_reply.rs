//! The reply of a command, as a JSON object, with its messages.

use std::path::Path;

use evalsuite_records::record::{Note, Usage};
use evalsuite_schema::diagnostics::suggest::nearest;
use evalsuite_schema::media_type::of_extension;
use evalsuite_schema::{Content, Message, Object, Part, PathRef, Role, ToolCall, Value};

use crate::model::messages::answer_content;
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
        let list = reply.take(typed_value(object, key, "a list of messages", Value::as_array));
        if let Some(list) = list {
            reply.outcome.messages = Some(messages(list, key, directory, &mut reply.problem));
        }
    }
    // The messages say what the answer is, if one of them is.
    let is_answer = reply.outcome.messages.as_deref().is_none_or(|messages| answer_content(messages).is_none());
    reply.outcome.text = reply.take(text_value(object, "text")).filter(|_| is_answer).map(str::to_owned);
    let spent = typed_value(object, "token_usage", "an object", Value::as_object)
        .and_then(|spent| spent.map(usage).transpose());
    reply.outcome.usage = reply.take(spent);
    reply.outcome.cost_usd = reply.take(amount(object, "cost_usd", &mut notes));
    reply.outcome.duration_ms = reply.take(amount(object, "duration_ms", &mut notes));
    reply.outcome.state =
        reply.take(typed_value(object, "state", "an object", Value::as_object)).cloned().unwrap_or_default();
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
        match read_message(value, directory) {
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
    let number = typed_value(object, key, "a number", Value::as_f64)?;
    let amount = number.filter(|number| is_amount(*number));
    if let (Some(number), None) = (number, amount) {
        notes.push(ignored(format!("`{key}` of the output file is {number}, which is ignored")));
    }
    Ok(amount)
}

fn ignored(message: String) -> Note {
    Note::new("output_ignored", message)
}

/// Reads a message; paths of files are relative to `directory`. Unknown keys are ignored.
fn read_message(message: &Value, directory: &Path) -> Result<Message, String> {
    let object = message.as_object().ok_or_else(|| format!("a message is an object, found {message}"))?;
    let role = text_value(object, "role")?.ok_or("it has no `role`")?;
    let role = Role::of_word(role)
        .ok_or_else(|| format!("`role` is `{role}`; it is `system`, `user`, `assistant` or `tool`"))?;
    let mut message = Message::empty(role);
    message.name = owned_text(object, "name")?;
    message.content = get(object, "content").map(|value| content(value, directory)).transpose()?;
    if let Some(calls) = typed_value(object, "tool_calls", "a list", Value::as_array)? {
        message.tool_calls = calls.iter().map(tool_call).collect::<Result<_, _>>()?;
    }
    message.start_time = owned_text(object, "start_time")?;
    message.end_time = owned_text(object, "end_time")?;
    message.duration_ms = duration(object)?;
    message.llm_call_count = typed_value(object, "llm_call_count", "an integer of at least 0", Value::as_u64)?;
    message.metadata = get(object, "metadata").cloned();
    Ok(message)
}

fn get<'o>(object: &'o Object, key: &str) -> Option<&'o Value> {
    object.get(key).filter(|value| !value.is_null())
}

fn owned_text(object: &Object, key: &str) -> Result<Option<String>, String> {
    Ok(text_value(object, key)?.map(str::to_owned))
}

fn duration(object: &Object) -> Result<Option<f64>, String> {
    let read = |value: &Value| value.as_f64().filter(|number| *number >= 0.0);
    typed_value(object, "duration_ms", "a number of at least 0", read)
}

fn content(value: &Value, directory: &Path) -> Result<Content, String> {
    match value {
        Value::String(text) => Ok(Content::Text(text.clone())),
        Value::Array(parts) => {
            parts.iter().map(|value| part(value, directory)).collect::<Result<_, _>>().map(Content::Parts)
        }
        Value::Object(_) => Ok(Content::Data(value.clone())),
        other => Err(wrong_type("content", "a string, an object or a list of parts", other)),
    }
}

fn part(value: &Value, directory: &Path) -> Result<Part, String> {
    let object = match value {
        Value::String(text) => return Ok(Part::Text(text.clone())),
        Value::Object(object) => object,
        other => return Err(format!("a part of `content` is a string or an object, found {other}")),
    };
    let kind = text_value(object, "type")?.ok_or("a part of `content` has no `type`")?;
    // Models write the text of a part under `text`.
    let other_key = if kind == "text" { "text" } else { "path" };
    let written = match text_value(object, "value")? {
        Some(written) => written,
        None => text_value(object, other_key)?.ok_or_else(|| format!("a part of type `{kind}` has no `value`"))?,
    };
    let file = || {
        let path = directory.join(written).to_string_lossy().into_owned();
        PathRef::found(written, path)
    };
    match kind {
        "text" => Ok(Part::Text(written.to_owned())),
        "file" => Ok(Part::File(file())),
        "image" | "audio" | "document" => {
            let media_type = match text_value(object, "media_type")? {
                Some(media_type) => media_type.to_owned(),
                None => media_type_of(kind, written).ok_or_else(|| {
                    format!("the {kind} `{written}` has no `media_type`, and its file extension is unknown")
                })?,
            };
            let file = file();
            Ok(match kind {
                "image" => Part::Image { file, media_type },
                "audio" => Part::Audio { file, media_type },
                _ => Part::Document { file, media_type },
            })
        }
        other => Err(format!(
            "a part of `content` has the type `{other}`; it is `text`, `file`, `image`, `audio` or `document`"
        )),
    }
}

/// The media type that the extension of an image, a sound or a document says.
fn media_type_of(kind: &str, path: &str) -> Option<String> {
    of_extension(Path::new(path).extension()?.to_str()?)
        .filter(|media_type| match kind {
            "document" => !media_type.starts_with("image/") && !media_type.starts_with("audio/"),
            prefix => media_type.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/')),
        })
        .map(str::to_owned)
}

fn tool_call(call: &Value) -> Result<ToolCall, String> {
    let object = call.as_object().ok_or_else(|| format!("a tool call is an object, found {call}"))?;
    let mut call = ToolCall::new(text_value(object, "tool")?.ok_or("a tool call has no `tool`")?);
    call.input = get(object, "input").cloned();
    call.output = get(object, "output").cloned();
    call.id = owned_text(object, "id")?;
    call.start_time = owned_text(object, "start_time")?;
    call.end_time = owned_text(object, "end_time")?;
    call.duration_ms = duration(object)?;
    call.is_error = typed_value(object, "is_error", "`true` or `false`", Value::as_bool)?.unwrap_or_default();
    Ok(call)
}

/// The error about a value of another type than `expected`.
fn wrong_type(key: &str, expected: &str, found: &Value) -> String {
    let found = match found {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("`{value}`"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    format!("`{key}` has to be {expected}, found {found}")
}

/// The value of a key as `read` returns it; `None` if the key is missing or null. `expected` describes what `read` accepts.
fn typed_value<'o, T>(
    object: &'o Object,
    key: &str,
    expected: &str,
    read: impl FnOnce(&'o Value) -> Option<T>,
) -> Result<Option<T>, String> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => read(value).map(Some).ok_or_else(|| wrong_type(key, expected, value)),
    }
}

/// A text, see [`value`].
fn text_value<'o>(object: &'o Object, key: &str) -> Result<Option<&'o str>, String> {
    typed_value(object, key, "a string", Value::as_str)
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;

    fn read_message(value: Value) -> Result<Message, String> {
        super::read_message(&value, Path::new("/w"))
    }

    #[test]
    fn a_message_has_content_of_every_form_and_calls() {
        let message = read_message(json!({
            "role": "assistant", "name": "main", "start_time": "2026-01-04T09:15:00.000Z", "duration_ms": 12.5,
            "content": ["a", {"type": "text", "value": "b"}, {"type": "text", "text": "c"},
                        {"type": "file", "value": "out/report.md"}, {"type": "image", "value": "/x/p.JPG"},
                        {"type": "audio", "value": "memo.mp3"}, {"type": "document", "value": "report.pdf"},
                        {"type": "document", "value": "scan", "media_type": "application/pdf"}],
            "tool_calls": [{"tool": "read", "input": {"path": "x"}, "output": "y", "id": "1", "duration_ms": 3, "is_error": true}],
            "usage": "unknown keys are ignored", "metadata": {"k": 1},
        }))
        .unwrap();
        let Some(Content::Parts(parts)) = &message.content else { panic!("{message:?}") };
        let below = |name: &str| Path::new("/w").join(name).display().to_string();
        assert_eq!(parts[..3], [Part::Text("a".into()), Part::Text("b".into()), Part::Text("c".into())]);
        assert_eq!(parts[3], Part::File(PathRef::found("out/report.md", below("out/report.md"))));
        assert!(
            matches!(&parts[4], Part::Image { file, media_type } if file.path == "/x/p.JPG" && media_type == "image/jpeg")
        );
        let named: Vec<_> =
            parts[5..].iter().map(|part| (&*part.file().unwrap().path, part.media_type().unwrap())).collect();
        let pdf = "application/pdf";
        let [memo, report, scan] = ["memo.mp3", "report.pdf", "scan"].map(below);
        assert_eq!(named, [(&*memo, "audio/mpeg"), (&*report, pdf), (&*scan, pdf)]);
        assert!(matches!(parts[5..], [Part::Audio { .. }, Part::Document { .. }, Part::Document { .. }]));
        let call = &message.tool_calls[0];
        assert_eq!((call.tool.as_str(), call.duration_ms, call.is_error), ("read", Some(3.0), true));
        assert_eq!((message.name.as_deref(), message.duration_ms), (Some("main"), Some(12.5)));
        let data = read_message(json!({"role": "assistant", "content": {"total": 5}})).unwrap();
        assert_eq!(data.content, Some(Content::Data(json!({"total": 5}))));
        assert_eq!(read_message(json!({"role": "assistant", "content": null})).unwrap().content, None);
    }

    #[test]
    fn what_is_wrong_with_a_message_is_said() {
        for (message, expected) in [
            (json!("hello"), "a message is an object"),
            (json!({"content": "x"}), "it has no `role`"),
            (
                json!({"role": "human", "content": "x"}),
                "`role` is `human`; it is `system`, `user`, `assistant` or `tool`",
            ),
            (json!({"role": "assistant", "content": 5}), "`content` has to be a string, an object or a list of parts"),
            (json!({"role": "assistant", "content": [{"type": "video", "value": "x"}]}), "has the type `video`"),
            (json!({"role": "assistant", "content": [{"type": "file"}]}), "a part of type `file` has no `value`"),
            (json!({"role": "assistant", "tool_calls": [{"name": "read"}]}), "a tool call has no `tool`"),
            (json!({"role": "assistant", "tool_calls": {}}), "`tool_calls` has to be a list, found an object"),
            (json!({"role": "assistant", "duration_ms": -1}), "`duration_ms` has to be a number of at least 0"),
        ] {
            let error = read_message(message).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
