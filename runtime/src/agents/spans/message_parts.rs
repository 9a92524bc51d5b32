//! Parts of messages: texts, calls of tools and their results, media. In the forms of the conventions, OpenAI, Anthropic, Bedrock and Google.

use evalsuite_schema::{Content, Message, Part, PathRef, Role, ToolCall, Value};

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
pub(crate) fn content_of(parts: Vec<Part>) -> Option<Content> {
    match parts.as_slice() {
        [] => None,
        [Part::Text(text)] => Some(Content::Text(text.clone())),
        _ => Some(Content::Parts(parts)),
    }
}

/// The result of a call in a part.
pub(crate) fn tool_answer(part: &Value) -> Option<Message> {
    let source = ANSWER_KEYS.iter().find_map(|key| part.get(*key)).unwrap_or(part);
    let keys = ["response", "result", "content", "output", "server_tool_call_response"];
    let mut message = Message::empty(Role::Tool);
    message.content = keys.iter().find_map(|key| source.get(*key)).map(|answer| match result(answer) {
        Value::String(text) => Content::Text(text),
        data => Content::Data(data),
    });
    message.tool_call_id = text_at(source, &["id", "tool_call_id", "tool_use_id", "toolUseId", "call_id"]);
    message.name = text_at(source, &["name"]);
    Some(message)
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
pub(crate) fn call(part: &Value) -> Option<ToolCall> {
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

pub(crate) fn text_at(value: &Value, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| value.get(*key)?.as_str().map(str::to_owned))
}
