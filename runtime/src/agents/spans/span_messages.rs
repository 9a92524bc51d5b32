//! Messages in fields of spans: in the form of the conventions, and in those of providers.

use evalsuite_schema::{Content, Message, Part, PathRef, Role, ToolCall, Value};

/// Messages in a field: JSON as text, or plain text of a speaker.
pub(crate) fn read(value: &Value, speaker: Role) -> Vec<Message> {
    match value {
        Value::String(text) => match evalsuite_schema::json::from_str::<Value>(text) {
            Ok(json @ (Value::Array(_) | Value::Object(_))) => read(&json, speaker),
            _ if text.is_empty() => Vec::new(),
            _ => vec![Message::text(speaker, text.as_str())],
        },
        Value::Array(items) if is_parts(items) => message(speaker, items),
        Value::Array(items) => items.iter().flat_map(|item| read_one(item, speaker)).collect(),
        Value::Object(_) => read_one(value, speaker),
        _ => Vec::new(),
    }
}

/// A list of parts of one message rather than of messages.
fn is_parts(items: &[Value]) -> bool {
    !items.is_empty() && items.iter().all(|item| item.get("role").is_none() && item.get("message").is_none())
}

fn read_one(value: &Value, speaker: Role) -> Vec<Message> {
    // A choice of a model holds its message.
    if let Some(inner) = value.get("message").filter(|inner| inner.is_object()) {
        return read_one(inner, speaker);
    }
    let role = match value.get("role").and_then(Value::as_str) {
        Some("system" | "developer") => Role::System,
        Some("user" | "human") => Role::User,
        Some("assistant" | "model" | "ai") => Role::Assistant,
        Some("tool" | "function") => Role::Tool,
        _ => speaker,
    };
    let mut messages = match value.get("parts").or_else(|| value.get("content")) {
        Some(Value::Array(parts)) => message(role, parts),
        Some(Value::String(text)) => vec![Message::text(role, text.as_str())],
        Some(part @ Value::Object(_)) => message(role, std::slice::from_ref(part)),
        _ => vec![Message::empty(role)],
    };
    if let Some(message) = messages.iter_mut().find(|message| message.role == role) {
        let calls = value.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        message.tool_calls.extend(calls.filter_map(call));
        if role == Role::Tool && message.tool_call_id.is_none() {
            message.tool_call_id = text_at(value, &["tool_call_id", "id", "call_id"]);
        }
        message.name = message.name.take().or_else(|| text_at(value, &["name"]));
    }
    messages
}

/// One message of parts, and one more for each answer of a tool among them.
fn message(role: Role, parts: &[Value]) -> Vec<Message> {
    let mut main = Message::empty(role);
    let mut content = Vec::new();
    let mut reasoning = Vec::new();
    let mut answers = Vec::new();
    for part in parts {
        if let Some(answer) = tool_answer(part) {
            answers.push(answer);
        } else if let Some(call) = call(part) {
            main.tool_calls.push(call);
        } else if is_reasoning(part) {
            reasoning.extend(text_of(part));
        } else if let Some(media) = media(part) {
            content.push(media);
        } else {
            content.extend(text_of(part).map(Part::Text));
        }
    }
    main.content = match content.as_slice() {
        [] => None,
        [Part::Text(text)] => Some(Content::Text(text.clone())),
        _ => Some(Content::Parts(content)),
    };
    main.reasoning = (!reasoning.is_empty()).then(|| reasoning.join("\n"));
    let says_something = main.content.is_some() || main.reasoning.is_some() || !main.tool_calls.is_empty();
    if says_something || answers.is_empty() {
        answers.insert(0, main);
    }
    answers
}

fn tool_answer(part: &Value) -> Option<Message> {
    let kind = part.get("type").and_then(Value::as_str)?;
    if !["tool_call_response", "tool_result", "toolresult", "function_call_output"].contains(&kind) {
        return None;
    }
    let answer = ["response", "result", "content", "output"].iter().find_map(|key| part.get(*key));
    let mut message = Message::empty(Role::Tool);
    message.content = answer.map(|answer| match answer {
        Value::String(text) => Content::Text(text.clone()),
        Value::Array(parts) if parts.iter().all(|part| text_of(part).is_some()) => {
            Content::Text(parts.iter().filter_map(text_of).collect::<Vec<_>>().join("\n"))
        }
        other => Content::Data(other.clone()),
    });
    message.tool_call_id = text_at(part, &["id", "tool_call_id", "tool_use_id", "call_id"]);
    Some(message)
}

fn call(part: &Value) -> Option<ToolCall> {
    let function = part.get("function").filter(|function| function.is_object());
    let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
    if function.is_none() && !["tool_call", "toolcall", "tool_use", "function_call"].contains(&kind) {
        return None;
    }
    let source = function.unwrap_or(part);
    let mut call = ToolCall::new(text_at(source, &["name"])?);
    call.id = text_at(part, &["id", "call_id", "tool_call_id"]);
    call.input = ["arguments", "input", "args"].iter().find_map(|key| source.get(*key)).map(structured);
    Some(call)
}

/// JSON in a text, if it is an object or a list; any other text is itself.
pub(crate) fn structured(value: &Value) -> Value {
    match value {
        Value::String(text) => match evalsuite_schema::json::from_str(text) {
            Ok(json @ (Value::Object(_) | Value::Array(_))) => json,
            _ => value.clone(),
        },
        other => other.clone(),
    }
}

fn is_reasoning(part: &Value) -> bool {
    matches!(part.get("type").and_then(Value::as_str), Some("reasoning" | "thinking"))
}

fn media(part: &Value) -> Option<Part> {
    let place = text_at(part, &["uri", "file_id"])?;
    let file = PathRef::new(place);
    Some(match text_at(part, &["mime_type"]) {
        Some(media_type) if media_type.starts_with("image/") => Part::Image { file, media_type },
        Some(media_type) if media_type.starts_with("audio/") => Part::Audio { file, media_type },
        Some(media_type) if !media_type.starts_with("video/") => Part::Document { file, media_type },
        _ => Part::File(file),
    })
}

fn text_of(part: &Value) -> Option<String> {
    match part {
        Value::String(text) => Some(text.clone()),
        Value::Object(_) => text_at(part, &["text", "content", "thinking", "reasoning"]),
        _ => None,
    }
}

fn text_at(value: &Value, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| value.get(*key)?.as_str().map(str::to_owned))
}
