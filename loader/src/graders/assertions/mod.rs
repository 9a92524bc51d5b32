//! Lists of assertions: entries in, graders of a case out.

mod entry;
mod list;
mod merge;

#[cfg(test)]
mod tests;

use evalsuite_schema::grader::{Grader, GraderConfig, Rubrics};
use evalsuite_schema::{Message, Object};

use crate::diagnostic::{Code, Diagnostics};
use crate::fields::paths::Scope;
use crate::graders::{CaseFacts, GraderContext, ParsedGrader};
use crate::read::node::Node;
use crate::source::Span;
use crate::{fields, graders};

pub(crate) use entry::task_graders;
pub(crate) use list::read_list;
pub(crate) use merge::merge;

impl ParsedGrader {
    /// Stands for an entry with a problem that was reported.
    fn broken(node: &Node, scope: Scope<'_>) -> Self {
        Self { is_broken: true, ..Self::new(unread(node, scope), node.span) }
    }
}

/// A grader whose name and settings are not read yet.
fn unread(node: &Node, scope: Scope<'_>) -> Grader {
    let config = GraderConfig::User { grader: String::new(), config: Object::new() };
    Grader::new("", scope.files.location(node.span), config)
}

/// Reads the value of a key `assertions`.
pub(crate) fn read(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<ParsedGrader> {
    read_list(node, GraderContext::new(scope), d)
}

/// Reads one assertion where there can be no other.
pub(crate) fn single(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> ParsedGrader {
    if node.as_mapping().is_none() {
        return fields::wrong_type(node, "a grader", "a mapping", d)
            .unwrap_or_else(|| ParsedGrader::broken(node, scope));
    }
    if node.entry("include").is_some() && node.entry("type").is_none() {
        let help = "write the grader itself: `type: llm-grader` or `type: rubrics`";
        d.report(Code::MissingGraderSetting, node.span, "an include where one grader has to be", help);
        return ParsedGrader::broken(node, scope);
    }
    entry::read(node, GraderContext::new(scope), d)
}

/// Reads the assertions of one turn of a conversation, of which `expected_output` is the reference: the graders, and the uses
/// of graders that are not built in. `what` is the name of the list.
pub(crate) fn turn(
    node: &Node,
    what: &str,
    expected_output: &[Message],
    scope: Scope<'_>,
    d: &mut Diagnostics,
) -> (Vec<Grader>, Vec<(String, Span)>) {
    let parsed = list::read_turn(node, what, GraderContext::new(scope), d);
    // The case may have criteria; whether it has none is not known here.
    merge_part(parsed, expected_output, true, node, d)
}

/// Reads `assertions` of a simulated user, as [`turn`] does. It has neither a reference nor criteria.
pub(crate) fn of_user(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> (Vec<Grader>, Vec<(String, Span)>) {
    merge_part(read(node, scope, d), &[], false, node, d)
}

fn merge_part(
    parsed: Vec<ParsedGrader>,
    expected_output: &[Message],
    has_criteria: bool,
    node: &Node,
    d: &mut Diagnostics,
) -> (Vec<Grader>, Vec<(String, Span)>) {
    let facts =
        CaseFacts { expected_output, reference_is_broken: false, has_criteria, span: node.span, tasks_layout: false };
    let users = user_graders(&parsed).collect();
    (merge(parsed, &[], &facts, d), users)
}

/// Reads the old key `rubrics` of a case: one grader, or none if the list is empty.
pub(crate) fn rubrics_key(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<ParsedGrader> {
    let Some(criteria) = graders::criteria(node, "`rubrics`", d) else {
        return Some(ParsedGrader::broken(node, scope));
    };
    if criteria.is_empty() {
        return None;
    }
    let config = GraderConfig::Rubrics(Rubrics { criteria, ..Rubrics::default() });
    Some(ParsedGrader::new(Grader::new("rubric", scope.files.location(node.span), config), node.span))
}

/// Every grader that is not built in, inside composites, too, and where it is named.
pub(crate) fn user_graders<'p>(
    parsed: impl IntoIterator<Item = &'p ParsedGrader>,
) -> impl Iterator<Item = (String, Span)> {
    parsed.into_iter().flat_map(|parsed| parsed.notes.users.iter().cloned())
}
