use serde_json::{Map, Value};

use crate::diagnostic::Diagnostic;
use crate::source::{Files, Span};

/// A problem for programs: `code`, `name`, `severity`, `message`, `file`, `line`, `column`, `end_line`, `end_column`, `help`
/// and `related`, a list of `file`, `line`, `column` and `message`.
///
/// Lines and columns count from 1, columns in characters; the end is behind the last character. They are `null` for a whole
/// file or directory, as `help` is where there is none.
pub fn json(diagnostic: &Diagnostic, files: &Files) -> Value {
    let end = diagnostic.span.range.map(|(_, end)| end);
    let mut object = Map::new();
    object.insert("code".into(), diagnostic.code.as_str().into());
    object.insert("name".into(), diagnostic.code.name().into());
    object.insert("severity".into(), diagnostic.severity().as_str().into());
    object.insert("message".into(), diagnostic.message.as_str().into());
    place(&mut object, &diagnostic.span, files);
    object.insert("end_line".into(), end.map(|end| end.line).into());
    object.insert("end_column".into(), end.map(|end| end.column).into());
    object.insert("help".into(), diagnostic.help.as_deref().into());
    let related = diagnostic.related.iter().map(|related| {
        let mut object = Map::new();
        place(&mut object, &related.span, files);
        object.insert("message".into(), related.message.as_str().into());
        Value::Object(object)
    });
    object.insert("related".into(), related.collect());
    Value::Object(object)
}

fn place(object: &mut Map<String, Value>, span: &Span, files: &Files) {
    let start = span.range.map(|(start, _)| start);
    object.insert("file".into(), (*files.get(span.file).shown).into());
    object.insert("line".into(), start.map(|start| start.line).into());
    object.insert("column".into(), start.map(|start| start.column).into());
}
