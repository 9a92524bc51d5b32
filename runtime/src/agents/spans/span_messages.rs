//! Messages in fields of spans, and their parts: texts, calls of tools and their results, media. In the forms of the conventions, OpenAI,
//! Anthropic, Bedrock and Google.

use evalsuite_schema::json::json;
use evalsuite_schema::{Content, Message, Part, PathRef, Role, ToolCall, Value};

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
        message.tool_calls.extend(calls.filter_map(tool_call_of));
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
            Piece::Call => main.tool_calls.extend(tool_call_of(part)),
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

/// What a part of a message is.
pub(crate) enum Piece {
    Content(Part),
    Reasoning(String),
    Call,
    Answer,
    Nothing,
}

/// Types of calls, of results and of thoughts.
const CALLS: [&str; 5] = ["tool_call", "toolcall", "tool_use", "function_call", "server_tool_call"];
const ANSWERS: [&str; 5] =
    ["tool_call_response", "tool_result", "toolresult", "function_call_output", "server_tool_call_response"];
const THOUGHTS: [&str; 3] = ["reasoning", "thinking", "compaction"];

/// Keys whose value is a call, or a result.
const CALL_KEYS: [&str; 4] = ["function", "tool_call", "toolUse", "functionCall"];
const ANSWER_KEYS: [&str; 2] = ["toolResult", "functionResponse"];

pub(crate) fn piece(part: &Value) -> Piece {
    let part = part.get("message_content").unwrap_or(part);
    let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
    let has = |keys: &[&str]| keys.iter().any(|key| part.get(*key).is_some_and(Value::is_object));
    // adk-rust writes a call as its name and arguments.
    let is_bare_call = kind.is_empty() && part.get("name").is_some() && part.get("args").is_some();
    if ANSWERS.contains(&kind) || has(&ANSWER_KEYS) {
        return Piece::Answer;
    }
    if CALLS.contains(&kind) || has(&CALL_KEYS) || is_bare_call {
        return Piece::Call;
    }
    if THOUGHTS.contains(&kind) || part.get("thinking").is_some() {
        return text_of(part).map_or(Piece::Nothing, Piece::Reasoning);
    }
    if let Some(media) = media(part, kind) {
        return Piece::Content(media);
    }
    // The content of these is data.
    let text = text_of(part).filter(|_| kind != "blob");
    match text {
        Some(text) => Piece::Content(Part::Text(text)),
        None if kind.is_empty() => Piece::Nothing,
        None => {
            let media_type = text_at(part, &["mime_type", "media_type"]);
            Piece::Content(Part::Text(format!("[{}]", media_type.as_deref().unwrap_or(kind))))
        }
    }
}

/// The content of a message with these parts.
fn content_of(parts: Vec<Part>) -> Option<Content> {
    match parts.as_slice() {
        [] => None,
        [Part::Text(text)] => Some(Content::Text(text.clone())),
        _ => Some(Content::Parts(parts)),
    }
}

/// The result of a call in a part.
fn tool_answer(part: &Value) -> Option<Message> {
    let source = ANSWER_KEYS.iter().find_map(|key| part.get(*key)).unwrap_or(part);
    let keys = ["response", "result", "content", "output", "server_tool_call_response"];
    let mut message = Message::empty(Role::Tool);
    message.content = keys.iter().find_map(|key| source.get(*key)).map(|answer| match result(answer) {
        Value::String(text) => Content::Text(text),
        data => Content::Data(data),
    });
    message.tool_call_id = text_at(source, &["id", "tool_call_id", "tool_use_id", "toolUseId", "call_id"]);
    message.name = text_at(source, &["name"]);
    // Anthropic, Bedrock and Google.
    let is_error = part.get(IS_ERROR).and_then(Value::as_bool) == Some(true)
        || source.get("status").and_then(Value::as_str) == Some("error")
        || part.pointer("/functionResponse/response/error").is_some_and(|error| !error.is_null());
    message.metadata = is_error.then(|| json!({IS_ERROR: true}));
    Some(message)
}

const IS_ERROR: &str = "is_error";

/// Whether the result of a call in a message of its tool is an error.
pub(crate) fn reports_error(message: &Message) -> bool {
    message.metadata.as_ref().is_some_and(|metadata| metadata.get(IS_ERROR).is_some())
}

/// A result without what is around it: parts that are text, and LangChain's messages.
pub(crate) fn result(value: &Value) -> Value {
    let value = structured(value);
    let langchain = [
        ("/output/lc", "/output/kwargs/content"),
        ("/data/tool_call_id", "/data/content"),
        ("/kwargs/color", "/output"),
    ];
    let content = langchain.iter().find_map(|(sign, content)| value.pointer(sign).and_then(|_| value.pointer(content)));
    match (content, &value) {
        (Some(content), _) => result(content),
        (None, Value::Array(parts)) if parts.iter().all(is_text) => {
            parts.iter().filter_map(text_of).collect::<Vec<_>>().join("\n").into()
        }
        (None, _) => value,
    }
}

/// Arguments of a tool without what LangChain has around them.
pub(crate) fn tool_input(value: &Value) -> Value {
    let value = structured(value);
    let Some(text) = value.get("input_str") else { return value };
    value.get("inputs").filter(|inputs| inputs.is_object()).unwrap_or(text).clone()
}

/// A part that has a text and nothing else.
fn is_text(part: &Value) -> bool {
    let Some(fields) = part.as_object() else { return false };
    text_of(part).is_some()
        && fields.keys().all(|key| ["type", "text", "content", "annotations"].contains(&key.as_str()))
}

/// The call in a part, or in an element of a list of calls.
fn tool_call_of(part: &Value) -> Option<ToolCall> {
    let part = part.get("tool_call").filter(|inner| inner.is_object()).unwrap_or(part);
    let source = CALL_KEYS.iter().find_map(|key| part.get(*key).filter(|inner| inner.is_object())).unwrap_or(part);
    let mut call = ToolCall::new(text_at(source, &["name"])?);
    let id = |value| text_at(value, &["id", "call_id", "tool_call_id", "toolUseId"]);
    call.id = id(part).or_else(|| id(source));
    let inputs = ["arguments", "input", "args", "server_tool_call"];
    call.input = inputs.iter().find_map(|key| source.get(*key)).map(structured);
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

fn media(part: &Value, kind: &str) -> Option<Part> {
    let source =
        ["image_url", "image", "fileData"].iter().find_map(|key| part.get(*key).filter(|inner| inner.is_object()));
    let source = source.and_then(|inner| inner.get("image")).or(source).unwrap_or(part);
    let file = PathRef::new(text_at(source, &["uri", "file_id", "url", "file_uri", "fileUri"])?);
    let modality = text_at(part, &["modality"]).or_else(|| kind.starts_with("image").then(|| "image".to_owned()));
    let media_type =
        text_at(source, &["mime_type", "mimeType"]).or_else(|| modality.map(|modality| format!("{modality}/*")));
    Some(match media_type {
        Some(media_type) if media_type.starts_with("image/") => Part::Image { file, media_type },
        Some(media_type) if media_type.starts_with("audio/") => Part::Audio { file, media_type },
        Some(media_type) if !media_type.starts_with("video/") => Part::Document { file, media_type },
        _ => Part::File(file),
    })
}

fn text_of(part: &Value) -> Option<String> {
    match part {
        Value::String(text) => Some(text.clone()),
        Value::Object(_) => text_at(part, &["text", "content", "thinking", "reasoning", "refusal", "transcript"]),
        _ => None,
    }
}

fn text_at(value: &Value, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| value.get(*key)?.as_str().map(str::to_owned))
}
