//! `expected_output`: the reference answer.

use evalsuite_schema::{Content, Message, Role};

use super::input;
use crate::diagnostic::{Code, Diagnostics};
use crate::fields::paths::Scope;
use crate::read::node::{Data, Entry, Node};

/// Reads `expected_output` into messages; empty after a reported problem.
pub(crate) fn read(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<Message> {
    let node = &entry.value;
    match &node.data {
        Data::String(text) if text.is_empty() => invalid(node, "`expected_output` is empty".to_owned(), d),
        Data::String(text) => vec![Message::text(Role::Assistant, text.clone())],
        Data::Mapping(_) if node.entry("role").is_some() => input::message(node, scope, d).into_iter().collect(),
        Data::Mapping(_) => vec![Message::new(Role::Assistant, Content::Data(node.to_json()))],
        Data::Sequence(items) => match items.first() {
            None => invalid(node, "`expected_output` is an empty list".to_owned(), d),
            Some(first) if first.entry("role").is_some() => messages(items, scope, d),
            Some(_) => vec![Message::new(Role::Assistant, Content::Data(node.to_json()))],
        },
        Data::Number(_) | Data::Bool(_) | Data::Null | Data::Foreign(_) => {
            invalid(node, format!("`expected_output` is {}", node.kind()), d)
        }
    }
}

fn messages(items: &[Node], scope: Scope<'_>, d: &mut Diagnostics) -> Vec<Message> {
    let message = |item: &Node| match item.entry("role") {
        Some(_) => input::message(item, scope, d).into_iter().collect(),
        None => invalid(item, "an element of `expected_output` is not a message".to_owned(), d),
    };
    items.iter().flat_map(message).collect()
}

fn invalid(node: &Node, message: String, d: &mut Diagnostics) -> Vec<Message> {
    let help = "write text (quote a number), an object, or a list of messages";
    d.report(Code::InvalidExpectedOutput, node.span, message, help);
    Vec::new()
}
