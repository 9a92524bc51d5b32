//! Our messages in the form of the records.

use base64::Engine as _;
use evalsuite_schema::json::{Value, json};
use evalsuite_schema::{Content, Message, Part, PathRef};

use super::{RecordPaths, object};

pub(super) fn list(messages: &[Message], paths: RecordPaths<'_>) -> Value {
    messages.iter().map(|message| form(message, paths)).collect()
}

fn form(message: &Message, paths: RecordPaths<'_>) -> Value {
    let calls: Vec<Value> = message
        .tool_calls
        .iter()
        .map(|call| {
            let (input, output) = (call.input.clone(), call.output.clone());
            Value::Object(object([
                ("tool", Some(json!(call.tool))),
                ("input", input),
                ("output", output),
                ("id", call.id.as_ref().map(|id| json!(id))),
            ]))
        })
        .collect();
    Value::Object(object([
        ("role", Some(json!(message.role))),
        ("name", message.name.as_ref().filter(|name| !name.is_empty()).map(|name| json!(name))),
        ("content", message.content.as_ref().map(|content| self::content(Some(content), paths))),
        ("tool_calls", (!calls.is_empty()).then_some(Value::Array(calls))),
    ]))
}

pub(super) fn content(content: Option<&Content>, paths: RecordPaths<'_>) -> Value {
    match content {
        None => Value::Null,
        Some(Content::Text(text)) => json!(text),
        Some(Content::Data(value)) => value.clone(),
        Some(Content::Parts(parts)) => parts.iter().map(|part| self::part(part, paths)).collect(),
    }
}

fn part(part: &Part, paths: RecordPaths<'_>) -> Value {
    match part {
        Part::Text(text) => json!({ "type": "text", "value": text }),
        Part::File(file) => json!({
            "type": "file",
            "value": file.written,
            "text": text(file, paths),
            "resolvedPath": paths.absolute(file),
        }),
        Part::Image { file, media_type } => {
            let bytes = std::fs::read(paths.root.join(&file.path)).unwrap_or_default();
            let data = base64::engine::general_purpose::STANDARD.encode(bytes);
            json!({ "type": "image", "media_type": media_type, "source": format!("data:{media_type};base64,{data}") })
        }
        other => panic!("no file of a suite has the part {other:?}"),
    }
}

/// Text of a file part as a trial reads it.
fn text(file: &PathRef, paths: RecordPaths<'_>) -> Option<String> {
    std::fs::read_to_string(paths.root.join(&file.path)).ok().map(|text| text.replace("\r\n", "\n"))
}

pub(super) fn file_paths(messages: &[Message], paths: RecordPaths<'_>) -> Value {
    let parts = messages.iter().filter_map(|message| match &message.content {
        Some(Content::Parts(parts)) => Some(parts),
        _ => None,
    });
    parts
        .flatten()
        .filter_map(|part| match part {
            Part::File(file) => Some(json!(paths.absolute(file))),
            _ => None,
        })
        .collect()
}

/// The text that the reference's reports show as the question.
pub(super) fn question(messages: &[Message]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for message in messages {
        match &message.content {
            None => {}
            Some(Content::Text(text)) => texts.push(text.clone()),
            Some(Content::Data(value)) => texts.push(pretty(value)),
            Some(Content::Parts(parts)) => texts.extend(parts.iter().filter_map(|part| match part {
                Part::Text(text) => Some(text.clone()),
                _ => None,
            })),
        }
    }
    let texts: Vec<&str> = texts.iter().map(|text| trim(text)).filter(|text| !text.is_empty()).collect();
    texts.join(" ")
}

/// Trims what the reference treats as white space.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() && c != '\u{85}' || c == '\u{feff}')
}

/// The reference answer as text.
pub(super) fn reference_text(messages: &[Message]) -> String {
    let Some(last) = messages.last() else { return String::new() };
    match &last.content {
        Some(Content::Text(text)) => text.clone(),
        Some(Content::Data(value)) => pretty(value),
        Some(Content::Parts(_)) => {
            pretty(&content(last.content.as_ref(), RecordPaths { root: "".as_ref(), eval_dir: "" }))
        }
        None => pretty(&form(last, RecordPaths { root: "".as_ref(), eval_dir: "" })["tool_calls"]),
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
