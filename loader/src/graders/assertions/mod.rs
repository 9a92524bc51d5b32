//! Lists of assertions: entries in, graders of a case out: its own, then its suite's.

mod entry;
mod list;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use evalsuite_schema::grader::{Grader, GraderConfig, Rubrics};
use evalsuite_schema::{Message, Object};

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields;
use crate::fields::paths::Scope;
use crate::graders::field_accuracy::ReferenceAnswer;
use crate::graders::{self, CaseFacts, GraderContext, ParsedGrader};
use crate::read::node::Node;
use crate::source::Span;

pub(crate) use entry::task_graders;
pub(crate) use list::read_list;

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

/// Puts graders of the case and the suite together, and checks what concerns all of them.
pub(crate) fn merge(
    case: Vec<ParsedGrader>,
    suite: &[ParsedGrader],
    facts: &CaseFacts<'_>,
    d: &mut Diagnostics,
) -> Vec<Grader> {
    let own = case.len();
    let mut all = case;
    all.extend_from_slice(suite);
    let reference = ReferenceAnswer::default();
    for (index, parsed) in all.iter_mut().enumerate().filter(|(_, parsed)| !parsed.is_broken) {
        let is_own = index < own;
        check_judges(parsed, is_own, facts, d);
        check_comparisons(parsed, is_own, facts, d);
        reference.check(parsed, is_own, facts, d);
    }
    check_weights(&all, own, facts, d);
    number_names(&mut all, own, facts.tasks_layout, d);
    all.into_iter().map(|parsed| parsed.grader).collect()
}

/// A judge grader without prompt and rubrics judges by criteria or reference of the case.
fn check_judges(parsed: &ParsedGrader, is_own: bool, facts: &CaseFacts<'_>, d: &mut Diagnostics) {
    if facts.has_criteria || !facts.expected_output.is_empty() {
        return;
    }
    let help = match facts.tasks_layout {
        true => "add `prompt` or `rubrics` to the grader, or `description` or an `expected_outcome` to the task",
        false => "add `prompt` or `rubrics` to the grader, or `criteria` or `expected_output` to the case",
    };
    for span in &parsed.notes.bare_judges {
        let diagnostic = if is_own {
            Diagnostic::new(Code::MissingGraderSetting, "the `llm-grader` has nothing to judge by").at(*span)
        } else {
            let message = "the suite's `llm-grader` has nothing to judge this case by";
            Diagnostic::new(Code::MissingGraderSetting, message).at(facts.span).related(*span, "the grader")
        };
        d.push(diagnostic.help(help));
    }
}

/// Without a text of its own a grader that compares takes the reference.
fn check_comparisons(parsed: &ParsedGrader, is_own: bool, facts: &CaseFacts<'_>, d: &mut Diagnostics) {
    if facts.reference_is_broken || !facts.expected_output.is_empty() {
        return;
    }
    for (kind, key, span) in &parsed.notes.bare_comparisons {
        let code = Code::MissingGraderSetting;
        let diagnostic = if is_own {
            Diagnostic::new(code, format!("the `{kind}` grader has nothing to compare with")).at(*span)
        } else {
            let message = format!("the suite's `{kind}` grader has nothing to compare this case with");
            Diagnostic::new(code, message).at(facts.span).related(*span, "the grader")
        };
        d.push(diagnostic.help(format!("add `{key}` to the grader, or `{}` to the case", facts.reference_key())));
    }
}

fn check_weights(all: &[ParsedGrader], own: usize, facts: &CaseFacts<'_>, d: &mut Diagnostics) {
    let is_zero = |parsed: &ParsedGrader| !parsed.is_broken && parsed.grader.weight == 0.0;
    if all.is_empty() || !all.iter().all(is_zero) {
        return;
    }
    let place = if own > 0 { all[0].span } else { facts.span };
    d.report(Code::ZeroTotalWeight, place, "every grader of the case has weight 0", "give one a weight");
}

/// Makes names unique: a repeated one gets `#2`, `#3` and so on.
fn number_names(all: &mut [ParsedGrader], own: usize, tasks_layout: bool, d: &mut Diagnostics) {
    let mut firsts: HashMap<String, usize> = HashMap::with_capacity(all.len());
    let mut repeats: Vec<(usize, usize)> = Vec::new();
    for (index, parsed) in all.iter().enumerate() {
        match firsts.get(&parsed.grader.name) {
            Some(first) if !parsed.is_broken => repeats.push((*first, index)),
            Some(_) => {}
            None => drop(firsts.insert(parsed.grader.name.clone(), index)),
        }
    }
    // The next number of each name that is there more than once.
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for (first, index) in repeats {
        let name = all[index].grader.name.clone();
        let number = numbers.entry(name.clone()).or_insert(1);
        let numbered = loop {
            *number += 1;
            let numbered = format!("{name}#{number}");
            if !firsts.contains_key(&numbered) {
                break numbered;
            }
        };
        if let (Some(span), false) = (all[index].named, tasks_layout) {
            let mut diagnostic =
                Diagnostic::new(Code::RepeatedGraderName, format!("name `{name}` is used again")).at(span);
            // Across case and suite the first place differs from case to case; the warning should be one.
            if (first < own) == (index < own) {
                diagnostic = diagnostic.related(all[first].named.unwrap_or(all[first].span), "first here");
            }
            d.push(diagnostic.help(format!("it becomes `{numbered}`; give it another name")));
        }
        firsts.insert(numbered.clone(), index);
        all[index].grader.name = numbered;
    }
}
