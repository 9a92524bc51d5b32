//! Messages in the output file of a command.

use std::path::Path;

use evalsuite_schema::media_type::of_extension;
use evalsuite_schema::{Content, Message, Object, Part, PathRef, Role, ToolCall, Value};

use crate::agents::command::invalid_output::{text, value, wrong_type};

/// Reads a message; paths of files are relative to `directory`. Unknown keys are ignored.
pub(crate) fn read(message: &Value, directory: &Path) -> Result<Message, String> {
    let object = message.as_object().ok_or_else(|| format!("a message is an object, found {message}"))?;
    let role = text(object, "role")?.ok_or("it has no `role`")?;
    let role = Role::of_word(role)
        .ok_or_else(|| format!("`role` is `{role}`; it is `system`, `user`, `assistant` or `tool`"))?;
    let mut message = Message::empty(role);
    message.name = owned_text(object, "name")?;
    message.content = get(object, "content").map(|value| content(value, directory)).transpose()?;
    if let Some(calls) = value(object, "tool_calls", "a list", Value::as_array)? {
        message.tool_calls = calls.iter().map(tool_call).collect::<Result<_, _>>()?;
    }
    message.start_time = owned_text(object, "start_time")?;
    message.end_time = owned_text(object, "end_time")?;
    message.duration_ms = duration(object)?;
    message.llm_call_count = value(object, "llm_call_count", "an integer of at least 0", Value::as_u64)?;
    message.metadata = get(object, "metadata").cloned();
    Ok(message)
}

fn get<'o>(object: &'o Object, key: &str) -> Option<&'o Value> {
    object.get(key).filter(|value| !value.is_null())
}

fn owned_text(object: &Object, key: &str) -> Result<Option<String>, String> {
    Ok(text(object, key)?.map(str::to_owned))
}

fn duration(object: &Object) -> Result<Option<f64>, String> {
    let read = |value: &Value| value.as_f64().filter(|number| *number >= 0.0);
    value(object, "duration_ms", "a number of at least 0", read)
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
    let kind = text(object, "type")?.ok_or("a part of `content` has no `type`")?;
    // Models write the text of a part under `text`.
    let other_key = if kind == "text" { "text" } else { "path" };
    let written = match text(object, "value")? {
        Some(written) => written,
        None => text(object, other_key)?.ok_or_else(|| format!("a part of type `{kind}` has no `value`"))?,
    };
    let file = || {
        let path = directory.join(written).to_string_lossy().into_owned();
        PathRef::found(written, path)
    };
    match kind {
        "text" => Ok(Part::Text(written.to_owned())),
        "file" => Ok(Part::File(file())),
        "image" | "audio" | "document" => {
            let media_type = match text(object, "media_type")? {
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
    let mut call = ToolCall::new(text(object, "tool")?.ok_or("a tool call has no `tool`")?);
    call.input = get(object, "input").cloned();
    call.output = get(object, "output").cloned();
    call.id = owned_text(object, "id")?;
    call.start_time = owned_text(object, "start_time")?;
    call.end_time = owned_text(object, "end_time")?;
    call.duration_ms = duration(object)?;
    call.is_error = value(object, "is_error", "`true` or `false`", Value::as_bool)?.unwrap_or_default();
    Ok(call)
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;

    fn read(value: Value) -> Result<Message, String> {
        super::read(&value, Path::new("/w"))
    }

    #[test]
    fn a_message_has_content_of_every_form_and_calls() {
        let message = read(json!({
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
        let data = read(json!({"role": "assistant", "content": {"total": 5}})).unwrap();
        assert_eq!(data.content, Some(Content::Data(json!({"total": 5}))));
        assert_eq!(read(json!({"role": "assistant", "content": null})).unwrap().content, None);
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
            let error = read(message).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
