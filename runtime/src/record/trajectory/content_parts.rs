//! Content of messages and outputs of tools, written to documents and read from them.

use evalsuite_schema::json::{Value, json};
use evalsuite_schema::{Content, Part, PathRef, media_type};

use crate::model::messages::pretty;
use crate::platform::redaction::Redactor;
use crate::record::trajectory::TrajectoryError;
use crate::record::trajectory::document_node::Node;

/// The media types of images that ATIF allows.
const IMAGE_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// The form of content that ATIF cannot express.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// No content.
    Absent,
    /// Empty text.
    Empty,
    /// JSON, written as text.
    Json,
}

/// The forms and their names in documents.
pub(crate) const FORMS: [(Form, &str); 3] = [(Form::Absent, "absent"), (Form::Empty, "empty"), (Form::Json, "json")];

/// Content as text or parts, and its form if it is neither.
pub(crate) fn write(content: &Content, redactor: &Redactor) -> (Value, Option<Form>) {
    match content {
        Content::Text(text) => (Value::String(text.clone()), None),
        Content::Parts(parts) => (parts.iter().map(part).collect(), None),
        Content::Data(data) => (Value::String(as_text(data, redactor)), Some(Form::Json)),
    }
}

/// JSON as text. Secrets are hidden first, because quotes and escapes change them.
pub(crate) fn as_text(data: &Value, redactor: &Redactor) -> String {
    pretty(&redactor.redacted(data.clone()).unwrap_or_else(|_| data.clone()))
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Image { file, media_type } if IMAGE_TYPES.contains(&media_type.as_str()) => {
            json!({"type": "image", "source": {"media_type": media_type, "path": file.path}})
        }
        Part::Audio { file, media_type } => audio(file, media_type),
        other => {
            let Some(file) = other.file() else { return json!({"type": "text", "text": ""}) };
            let media_type = if matches!(other, Part::Document { .. }) { None } else { audio_type(&file.path) };
            match media_type {
                Some(media_type) => audio(file, media_type),
                None => json!({"type": "text", "text": format!("[file: {}]", file.path)}),
            }
        }
    }
}

fn audio(file: &PathRef, media_type: &str) -> Value {
    json!({"type": "audio", "source": {"media_type": media_type, "path": file.path}})
}

fn audio_type(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit_once('.')?;
    media_type::of_extension(extension).filter(|media_type| media_type.starts_with("audio/"))
}

/// Reads content of a document.
pub(crate) fn read(node: &Node<'_>, form: Option<Form>) -> Result<Content, TrajectoryError> {
    match node.value {
        Value::String(text) if form == Some(Form::Json) => {
            let data = evalsuite_schema::json::from_str(text);
            Ok(data.map_or_else(|_| Content::Text(text.clone()), Content::Data))
        }
        Value::String(text) => Ok(Content::Text(text.clone())),
        Value::Array(_) => {
            let parts = node.items()?.map(|item| read_part(&item)).collect::<Result<_, _>>()?;
            Ok(Content::Parts(parts))
        }
        _ => Err(node.unexpected("a string or a list of content parts")),
    }
}

fn read_part(node: &Node<'_>) -> Result<Part, TrajectoryError> {
    let kind = node.required("type")?;
    match kind.text()? {
        "text" => {
            let text = node.required("text")?.text()?;
            let file = text.strip_prefix("[file: ").and_then(|rest| rest.strip_suffix(']'));
            Ok(file.map_or_else(|| Part::Text(text.to_owned()), |path| Part::File(PathRef::new(path))))
        }
        media @ ("image" | "audio") => {
            let source = node.required("source")?;
            let media_type = source.required("media_type")?.text()?.to_owned();
            let file = PathRef::new(source.required("path")?.text()?);
            Ok(if media == "image" { Part::Image { file, media_type } } else { Part::Audio { file, media_type } })
        }
        _ => Err(kind.unexpected("`text`, `image` or `audio`")),
    }
}
