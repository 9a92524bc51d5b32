//! A diagnostic as JSON.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use crate::diagnostics::{Diagnostic, SourceRange};

/// A problem for programs: `code`, `name`, `severity`, `message`, `file`, `line`, `column`, `end_line`, `end_column`, `help`
/// and `related`, a list of `file`, `line`, `column` and `message`.
///
/// Lines and columns count from 1, columns in characters; the end is after the last character. They are `null` for a whole
/// file or directory, as `file` and `help` are if there is none.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct JsonDiagnostic<'d> {
    json: Json<'d>,
}

/// A problem in the form that is serialized for programs.
pub fn json(diagnostic: &Diagnostic) -> JsonDiagnostic<'_> {
    let Diagnostic { code, message, place, related, help, .. } = diagnostic;
    let [file, line, column] = start(place.as_ref());
    let end = place.as_ref().and_then(|place| place.range).map(|(_, end)| end);
    let related = related.iter().map(|related| {
        let [file, line, column] = start(Some(&related.place));
        Json::Object(vec![file, line, column, ("message", related.message.as_str().into())])
    });
    let json = Json::Object(vec![
        ("code", code.as_str().into()),
        ("name", code.name().into()),
        ("severity", code.severity().as_str().into()),
        ("message", message.as_str().into()),
        file,
        line,
        column,
        ("end_line", end.map(|end| end.line).into()),
        ("end_column", end.map(|end| end.column).into()),
        ("help", help.as_deref().into()),
        ("related", Json::List(related.collect())),
    ]);
    JsonDiagnostic { json }
}

/// Where a place starts.
fn start(place: Option<&SourceRange>) -> [(&'static str, Json<'_>); 3] {
    let start = place.and_then(SourceRange::start);
    [
        ("file", place.map(|place| place.file.as_str()).into()),
        ("line", start.map(|start| start.line).into()),
        ("column", start.map(|start| start.column).into()),
    ]
}

/// JSON as it is written for other programs.
#[derive(Debug)]
pub(super) enum Json<'d> {
    Null,
    Number(u32),
    Text(Cow<'d, str>),
    List(Vec<Self>),
    /// The keys are written in this order.
    Object(Vec<(&'static str, Self)>),
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Number(number) => serializer.serialize_u32(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(entries) => serializer.collect_map(entries.iter().map(|(key, value)| (key, value))),
        }
    }
}

impl From<u32> for Json<'_> {
    fn from(number: u32) -> Self {
        Self::Number(number)
    }
}

impl<'d> From<&'d str> for Json<'d> {
    fn from(text: &'d str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Json<'_> {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl<'d, T: Into<Json<'d>>> From<Option<T>> for Json<'d> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
