//! Both readers: values, spans and errors.

mod hostile;
mod json;
mod second_opinion;
mod yaml_errors;
mod yaml_values;

use std::path::Path;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::read::node::Node;
use crate::source::{FileId, Files, Span};

fn file() -> FileId {
    Files::new(Path::new("/")).add(Path::new("/test"))
}

fn yaml(text: &str) -> (Option<Node>, Vec<Diagnostic>) {
    let mut diagnostics = Diagnostics::new();
    let node = super::parse_yaml(file(), text, &mut diagnostics);
    (node, diagnostics.into_iter().collect())
}

fn json(text: &str) -> (Option<Node>, Vec<Diagnostic>) {
    let mut diagnostics = Diagnostics::new();
    let node = super::parse_json(file(), text, &mut diagnostics);
    (node, diagnostics.into_iter().collect())
}

/// The tree of a text that must be without problems.
#[track_caller]
fn good(text: &str, (node, problems): (Option<Node>, Vec<Diagnostic>)) -> Node {
    assert_eq!(problems, [], "{text:?} is read without problems");
    node.expect("a text without problems has a tree")
}

/// `line:column-line:column`.
fn place(span: &Span) -> String {
    let (start, end) = span.range.expect("values and problems in a text have a range");
    format!("{}:{}-{}:{}", start.line, start.column, end.line, end.column)
}

/// `PLACE CODE MESSAGE` of every problem.
fn list(problems: &[Diagnostic]) -> Vec<String> {
    let line = |problem: &Diagnostic| {
        format!(
            "{} {} {}",
            place(&problem.place.expect("problems in a text have a place")),
            problem.code.as_str(),
            problem.message
        )
    };
    problems.iter().map(line).collect()
}

/// The value at a path of keys and indices, such as `assertions.0.value`.
fn value<'n>(root: &'n Node, path: &str) -> &'n Node {
    path.split('.').filter(|step| !step.is_empty()).fold(root, |node, step| match node.as_sequence() {
        Some(items) => &items[step.parse::<usize>().expect("an index of a list")],
        None => &node.entry(step).unwrap_or_else(|| panic!("there is a key {step}")).value,
    })
}
