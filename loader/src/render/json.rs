//! A diagnostic as JSON.

use evalsuite_schema::diagnostic::{Diagnostic, SourceRange};
use evalsuite_schema::json::{Object, Value};

/// A problem for programs: `code`, `name`, `severity`, `message`, `file`, `line`, `column`, `end_line`, `end_column`, `help`
/// and `related`, a list of `file`, `line`, `column` and `message`.
///
/// Lines and columns count from 1, columns in characters; the end is after the last character. They are `null` for a whole
/// file or directory, as `file` and `help` are if there is none.
pub fn json(diagnostic: &Diagnostic) -> Value {
    let end = diagnostic.place.as_ref().and_then(|place| place.range).map(|(_, end)| end);
    let mut object = Object::new();
    object.insert("code".into(), diagnostic.code.as_str().into());
    object.insert("name".into(), diagnostic.code.name().into());
    object.insert("severity".into(), diagnostic.severity().as_str().into());
    object.insert("message".into(), diagnostic.message.as_str().into());
    insert_place(&mut object, diagnostic.place.as_ref());
    object.insert("end_line".into(), end.map(|end| end.line).into());
    object.insert("end_column".into(), end.map(|end| end.column).into());
    object.insert("help".into(), diagnostic.help.as_deref().into());
    let related = diagnostic.related.iter().map(|related| {
        let mut object = Object::new();
        insert_place(&mut object, Some(&related.place));
        object.insert("message".into(), related.message.as_str().into());
        Value::Object(object)
    });
    object.insert("related".into(), related.collect());
    Value::Object(object)
}

fn insert_place(object: &mut Object, place: Option<&SourceRange>) {
    let start = place.and_then(SourceRange::start);
    object.insert("file".into(), place.map(|place| place.file.as_str()).into());
    object.insert("line".into(), start.map(|start| start.line).into());
    object.insert("column".into(), start.map(|start| start.column).into());
}
