//! Ids of cases.

use crate::diagnostic::{Code, Diagnostic, Diagnostics, Fix};
use crate::fields::{self, Fields};
use crate::read::node::{Data, Node};
use crate::source::Span;

/// The id of a case and its span; without `id`, the name of its directory. `None`: a problem was reported.
pub(crate) fn read(fields: &mut Fields<'_>, directory: Option<&str>, d: &mut Diagnostics) -> (Option<String>, Span) {
    let whole = fields.node.span;
    let Some(entry) = fields.get("id") else {
        if directory.is_none() {
            fields.missing(Code::MissingKey, "id", d);
        }
        return (directory.and_then(|name| check(name, whole, d)), whole);
    };
    (parse(&entry.value, true, d), entry.value.span)
}

/// The id of a task, where nothing is interpolated.
pub(crate) fn read_task(fields: &mut Fields<'_>, d: &mut Diagnostics) -> (Option<String>, Span) {
    let Some(entry) = fields.require("id", d) else { return (None, fields.node.span) };
    (of_text(&entry.value, d), entry.value.span)
}

/// An id where nothing is interpolated.
pub(crate) fn of_text(node: &Node, d: &mut Diagnostics) -> Option<String> {
    parse(node, false, d)
}

fn parse(node: &Node, interpolated: bool, d: &mut Diagnostics) -> Option<String> {
    let what = match &node.data {
        Data::String(text) => {
            let literal = !interpolated || fields::literal(text, node, "`id`", d);
            return literal.then(|| check(text, node.span, d)).flatten();
        }
        Data::Number(number) => format!("`id` is the number {number}"),
        Data::Bool(value) => format!("`id` is the boolean {value}"),
        _ => {
            let message = format!("`id` must be text, found {}", node.kind());
            return fields::reject(Code::InvalidId, node.span, message, "write text", d);
        }
    };
    d.push(Diagnostic::new(Code::InvalidId, what).at(node.span).help("quote it").fix_if(Some(Fix::Quote)));
    None
}

fn check(id: &str, span: Span, d: &mut Diagnostics) -> Option<String> {
    if id.trim().is_empty() {
        return fields::reject(Code::InvalidId, span, "the id is blank", "write an id", d);
    }
    if let Some(character) = id.chars().find(|character| character.is_control()) {
        let shown = character.escape_unicode();
        let message = format!("the id contains the control character `{shown}`");
        return fields::reject(Code::InvalidId, span, message, "delete it", d);
    }
    Some(id.to_owned())
}
