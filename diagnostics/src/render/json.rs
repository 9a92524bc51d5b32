//! A diagnostic as JSON.

use serde::Serialize;

use crate::{Diagnostic, SourceRange};

/// A problem for programs: `code`, `name`, `severity`, `message`, `file`, `line`, `column`, `end_line`, `end_column`, `help`
/// and `related`, a list of `file`, `line`, `column` and `message`.
///
/// Lines and columns count from 1, columns in characters; the end is after the last character. They are `null` for a whole
/// file or directory, as `file` and `help` are if there is none.
#[derive(Debug, Serialize)]
pub struct JsonDiagnostic<'d> {
    code: &'static str,
    name: &'static str,
    severity: &'static str,
    message: &'d str,
    #[serde(flatten)]
    start: Start<'d>,
    end_line: Option<u32>,
    end_column: Option<u32>,
    help: Option<&'d str>,
    related: Vec<JsonRelated<'d>>,
}

#[derive(Debug, Serialize)]
struct JsonRelated<'d> {
    #[serde(flatten)]
    start: Start<'d>,
    message: &'d str,
}

#[derive(Debug, Serialize)]
struct Start<'d> {
    file: Option<&'d str>,
    line: Option<u32>,
    column: Option<u32>,
}

impl<'d> Start<'d> {
    fn of(place: Option<&'d SourceRange>) -> Self {
        let start = place.and_then(SourceRange::start);
        Self {
            file: place.map(|place| place.file.as_str()),
            line: start.map(|start| start.line),
            column: start.map(|start| start.column),
        }
    }
}

/// A problem in the form that is serialized for programs.
pub fn json(diagnostic: &Diagnostic) -> JsonDiagnostic<'_> {
    let Diagnostic { code, message, place, related, help, .. } = diagnostic;
    let end = place.as_ref().and_then(|place| place.range).map(|(_, end)| end);
    JsonDiagnostic {
        code: code.as_str(),
        name: code.name(),
        severity: code.severity().as_str(),
        message,
        start: Start::of(place.as_ref()),
        end_line: end.map(|end| end.line),
        end_column: end.map(|end| end.column),
        help: help.as_deref(),
        related: related
            .iter()
            .map(|related| JsonRelated { start: Start::of(Some(&related.place)), message: &related.message })
            .collect(),
    }
}
