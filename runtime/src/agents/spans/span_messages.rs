//! Messages in fields of spans: in the form of the conventions, and in those of providers.

use evalsuite_schema::{Content, Message, Part, Role, Value};

use crate::agents::spans::message_parts::{Piece, call, content_of, piece, text_at, tool_answer};

/// Messages in a field: JSON as text, or plain text of a speaker.
pub(crate) fn read(value: &Value, speaker: Role) -> Vec<Message> {
    match value {
        Value::String(text) => match evalsuite_schema::json::from_str::<Value>(text) {
            Ok(json @ (Value::Array(_) | Value::Object(_))) if holds_messages(&json, speaker) => read(&json, speaker),
            _ if text.is_empty() => Vec::new(),
            _ => vec![Message::text(speaker, text.as_str())],
        },
        Value::Array(items) if is_parts(items) => message(speaker, items),
        Value::Array(items) => items.iter().flat_map(|item| read_one(item, speaker)).collect(),
        Value::Object(_) => request(value, speaker).unwrap_or_else(|| read_one(value, speaker)),
        _ => Vec::new(),
    }
}

/// Whether JSON is messages or parts of them, and not the text of a message.
pub(crate) fn holds_messages(json: &Value, speaker: Role) -> bool {
    let has_role = |value: &Value| value.get("role").is_some_and(Value::is_string);
    has_role(json) || json.as_array().is_some_and(|items| items.iter().any(has_role)) || {
        let says_something = |message: &Message| {
            message.content.is_some() || message.reasoning.is_some() || !message.tool_calls.is_empty()
        };
        json.as_array().is_none_or(|items| items.iter().all(Value::is_object))
            && read(json, speaker).iter().any(says_something)
    }
}

/// A list of parts of one message rather than of messages.
fn is_parts(items: &[Value]) -> bool {
    !items.is_empty() && items.iter().all(|item| item.get("role").is_none() && item.get("message").is_none())
}

/// The messages of a request to a model, with the instructions of Google's.
fn request(value: &Value, speaker: Role) -> Option<Vec<Message>> {
    let messages = ["messages", "contents"].iter().find_map(|key| value.get(*key)?.as_array())?;
    if is_parts(messages) {
        return None;
    }
    let instructions = value.pointer("/config/system_instruction").map(|text| read(text, Role::System));
    let messages = messages.iter().flat_map(|message| read_one(message, speaker));
    Some(instructions.unwrap_or_default().into_iter().chain(messages).collect())
}

fn read_one(value: &Value, speaker: Role) -> Vec<Message> {
    // A choice of a model holds its message.
    let inner = value.get("message").or_else(|| value.get("content").filter(|content| content.get("parts").is_some()));
    if let Some(inner) = inner.filter(|inner| inner.is_object()) {
        return read_one(inner, speaker);
    }
    let role = match value.get("role").and_then(Value::as_str) {
        Some("system" | "developer") => Role::System,
        Some("user" | "human") => Role::User,
        Some("assistant" | "model" | "ai") => Role::Assistant,
        Some("tool" | "function") => Role::Tool,
        _ => speaker,
    };
    let mut messages = match ["parts", "content", "contents"].iter().find_map(|key| value.get(*key)) {
        Some(Value::Array(parts)) => message(role, parts),
        Some(Value::String(text)) => vec![Message::text(role, text.as_str())],
        Some(part @ Value::Object(_)) => message(role, std::slice::from_ref(part)),
        _ => vec![Message::empty(role)],
    };
    if let Some(message) = messages.iter_mut().find(|message| message.role == role) {
        if value["role"] == "model" {
            // The texts of Google's models are pieces of one text.
            message.content = message.content.take().map(joined);
        }
        let calls = value.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        message.tool_calls.extend(calls.filter_map(call));
        if role == Role::Tool && message.tool_call_id.is_none() {
            message.tool_call_id = text_at(value, &["tool_call_id", "id", "call_id"]);
        }
        message.name = message.name.take().or_else(|| text_at(value, &["name"]));
    }
    messages
}

fn joined(content: Content) -> Content {
    let Content::Parts(parts) = &content else { return content };
    let texts: Option<String> =
        parts.iter().map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None }).collect();
    texts.map_or(content, Content::Text)
}

/// One message of parts, and one more for each answer of a tool among them.
fn message(role: Role, parts: &[Value]) -> Vec<Message> {
    let mut main = Message::empty(role);
    let mut content = Vec::new();
    let mut reasoning = Vec::new();
    let mut answers = Vec::new();
    for part in parts {
        match piece(part) {
            Piece::Answer => answers.extend(tool_answer(part)),
            Piece::Call => main.tool_calls.extend(call(part)),
            Piece::Reasoning(text) => reasoning.push(text),
            Piece::Content(part) => content.push(part),
            Piece::Nothing => {}
        }
    }
    main.content = content_of(content);
    main.reasoning = (!reasoning.is_empty()).then(|| reasoning.join("\n"));
    let says_something = main.content.is_some() || main.reasoning.is_some() || !main.tool_calls.is_empty();
    if says_something || answers.is_empty() {
        answers.insert(0, main);
    }
    answers
}
