//! Whether the reference answer of a case has what `field-accuracy` compares.

use evalsuite_schema::grader::{FieldAccuracy, Grader, GraderConfig, expected_document};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{Content, Message, Value};

use super::{CaseFacts, ParsedGrader};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, are_many};
use evalsuite_schema::diagnostics::suggest;

/// The document that fields are compared with, as far as it is known while compiling.
pub(super) enum Reference {
    Missing,
    /// It is interpolated.
    Unknown,
    Document(Value),
}

impl Reference {
    pub(super) fn of(messages: &[Message]) -> Self {
        let is_interpolated =
            |message: &Message| matches!(&message.content, Some(Content::Text(text)) if Syntax::Variable.is_in(text));
        if messages.iter().any(is_interpolated) {
            return Reference::Unknown;
        }
        expected_document(messages).map_or(Reference::Missing, Reference::Document)
    }

    /// Reports fields that the reference does not have; those of a suite's grader are left out for this case.
    pub(super) fn check(&self, parsed: &mut ParsedGrader, is_own: bool, facts: &CaseFacts<'_>, d: &mut Diagnostics) {
        let key = facts.reference_key();
        let document = match self {
            Reference::Unknown => return,
            Reference::Missing => {
                missing(parsed, is_own, facts, d);
                return;
            }
            Reference::Document(document) => document,
        };
        if !is_own {
            leave_out(&mut parsed.grader, document);
            return;
        }
        let mut known = Vec::new();
        for (path, span) in &parsed.notes.fields {
            if FieldAccuracy::find(document, path).is_some() || Syntax::Variable.is_in(path) {
                continue;
            }
            let near = if are_many(d) {
                None
            } else {
                if known.is_empty() {
                    add_paths("", document, &mut known);
                }
                suggest::did_you_mean(path, known.iter().map(String::as_str))
            };
            let help = near.unwrap_or_else(|| format!("add it to `{key}`, or delete the field"));
            d.report(Code::FieldNotInExpected, *span, format!("`{path}` is not in `{key}`"), help);
        }
    }
}

fn missing(parsed: &ParsedGrader, is_own: bool, facts: &CaseFacts<'_>, d: &mut Diagnostics) {
    let key = facts.reference_key();
    let help = match facts.tasks_layout {
        true => "add `\"reference_solution\": {\"expected_outcome\": {…}}`",
        false => "add an object as `expected_output`",
    };
    let diagnostic = if is_own {
        let message = format!("the case has no `{key}` with fields to compare with");
        Diagnostic::new(Code::FieldNotInExpected, message).at(parsed.span)
    } else {
        let message = format!("the case has no `{key}` with fields, which a grader of the suite compares");
        Diagnostic::new(Code::FieldNotInExpected, message).at(facts.span).related(parsed.span, "the grader")
    };
    d.push(diagnostic.help(help));
}

fn leave_out(grader: &mut Grader, document: &Value) {
    match &mut grader.config {
        GraderConfig::FieldAccuracy(config) => config.fields.retain(|field| {
            Syntax::Variable.is_in(&field.path) || FieldAccuracy::find(document, &field.path).is_some()
        }),
        GraderConfig::Composite(composite) => {
            for member in &mut composite.members {
                leave_out(member, document);
            }
        }
        _ => {}
    }
}

/// Adds every path of a document, for suggestions; `path` is that of `value`.
fn add_paths(path: &str, value: &Value, found: &mut Vec<String>) {
    let mut add = |path: String, value: &Value| {
        add_paths(&path, value, found);
        found.push(path);
    };
    match value {
        Value::Object(object) => {
            let dot = if path.is_empty() { "" } else { "." };
            object.iter().for_each(|(key, value)| add(format!("{path}{dot}{key}"), value));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| add(format!("{path}[{index}]"), value));
        }
        _ => {}
    }
}
