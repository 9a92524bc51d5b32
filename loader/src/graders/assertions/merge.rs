//! The graders of a case: its own, then its suite's; and whether its reference answer has what `field-accuracy` compares.

use std::collections::HashMap;

use evalsuite_schema::diagnostics::suggest;
use evalsuite_schema::grader::{Field, FieldAccuracy, Grader, GraderConfig, expected_document};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{Content, Message, Value};

use super::ParsedGrader;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, are_many};
use crate::source::Span;

/// What checks of a case's graders need to know about the case.
pub(crate) struct CaseFacts<'a> {
    /// The reference answer: of a task, the expected outcome.
    pub(crate) expected_output: &'a [Message],
    /// The reference answer has a reported problem, and is missing for that reason.
    pub(crate) reference_is_broken: bool,
    pub(crate) has_criteria: bool,
    /// Where the case is.
    pub(crate) span: Span,
    pub(crate) tasks_layout: bool,
}

impl CaseFacts<'_> {
    /// The key with the reference answer.
    pub(super) fn reference_key(&self) -> &'static str {
        if self.tasks_layout { "expected_outcome" } else { "expected_output" }
    }
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
    let mut reference = None;
    for (index, parsed) in all.iter_mut().enumerate().filter(|(_, parsed)| !parsed.is_broken) {
        let is_own = index < own;
        check_judges(parsed, is_own, facts, d);
        check_comparisons(parsed, is_own, facts, d);
        if parsed.notes.needs_reference && !facts.reference_is_broken {
            let reference = reference.get_or_insert_with(|| Reference::of(facts.expected_output));
            reference.check(parsed, is_own, facts, d);
        }
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
        }
        for (field, value) in compared_fields(&parsed.grader, document) {
            let Some(what) = field.unmet(value) else { continue };
            let message = format!("`{}` of `{key}` is not {what}: {}", field.path, value);
            let of_field = parsed.notes.fields.iter().find(|(path, _)| *path == field.path);
            let span = of_field.map_or(parsed.span, |(_, span)| *span);
            let problem = Diagnostic::new(Code::FieldNotInExpected, message);
            let problem = if is_own { problem.at(span) } else { problem.at(facts.span).related(span, "the grader") };
            d.push(problem.help("correct it, or compare the field in another way"));
        }
        if !is_own {
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

/// The fields that a grader and its members compare, with their values in a reference. Those with variables are known when a trial runs.
fn compared_fields<'g>(grader: &'g Grader, document: &'g Value) -> Vec<(&'g Field, &'g Value)> {
    let has_variable = |value: &Value| value.as_str().is_some_and(|text| Syntax::Variable.is_in(text));
    let with_value = |field: &'g Field| Some((field, FieldAccuracy::find(document, &field.path)?));
    grader
        .with_members()
        .filter_map(|grader| match &grader.config {
            GraderConfig::FieldAccuracy(config) => Some(&config.fields),
            _ => None,
        })
        .flatten()
        .filter_map(with_value)
        .filter(|(_, value)| !has_variable(value))
        .collect()
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
