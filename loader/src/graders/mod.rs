//! Settings of graders: one file per family, and what all of them share.

pub(crate) mod assertions;
mod code_grader;
mod compare;
mod composite;
mod constant;
mod criteria;
pub(crate) mod examples;
mod field_accuracy;
mod json_schema;
mod llm_grader;
mod metric_graders;
mod other_tools;
mod regex;
mod similar;
mod text_graders;
mod tool_trajectory;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashMap;
use std::path::Path;

use evalsuite_schema::Message;
use evalsuite_schema::grader::{Grader, GraderConfig, Preprocessor, TABLES};
use evalsuite_schema::keys::{Parts, Written};
use evalsuite_schema::media_type;
use evalsuite_schema::placeholder::Syntax;

use crate::diagnostic::{Code, Diagnostics, report_both};
use crate::fields::paths::Scope;
use crate::fields::settings::object;
use crate::fields::{self, Fields};
use crate::key_tables::{RUBRIC, Table};
use crate::read::node::{Entry, Node};
use crate::source::Span;

use constant::Constant;
pub(crate) use constant::check as check_decision;
pub(crate) use criteria::{have_own_ids, list as criteria, plain as plain_criterion};
pub(crate) use other_tools::Replacement;

/// Where a grader is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GraderContext<'a> {
    pub(crate) scope: Scope<'a>,
    /// Composites around it.
    pub(crate) depth: usize,
    /// Templates around it, the innermost first.
    pub(crate) templates: Option<&'a IncludedTemplate<'a>>,
}

/// A template that is being included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IncludedTemplate<'a> {
    pub(crate) path: &'a Path,
    pub(crate) parent: Option<&'a IncludedTemplate<'a>>,
}

impl<'a> GraderContext<'a> {
    /// The place of a list in a file of the suite.
    pub(crate) fn new(scope: Scope<'a>) -> Self {
        Self { scope, depth: 0, templates: None }
    }

    /// Whether variables are resolved in this file: not in the tasks layout.
    fn interpolates(&self) -> bool {
        !self.scope.roots.only_root
    }
}

/// What is known about a grader in addition to its settings.
#[derive(Debug, Clone, Default)]
pub(crate) struct GraderNotes {
    /// Graders registered in Rust that it uses, and where they are named.
    pub(crate) users: Vec<(String, Span)>,
    /// Paths of `field-accuracy`, and where they are written.
    pub(crate) fields: Vec<(String, Span)>,
    /// Whether it compares with a reference.
    pub(crate) needs_reference: bool,
    /// Judge graders without a prompt or criteria of their own.
    pub(crate) bare_judges: Vec<Span>,
    /// Graders without a text of their own to compare with: their type, the key that has the text, and the place.
    pub(crate) bare_comparisons: Vec<(&'static str, &'static str, Span)>,
    /// A pass mark that is a setting of the type.
    pub(crate) pass_mark: Option<f64>,
    /// References to variables of cases, of a grader that was read without any.
    pub(crate) references: Vec<(String, Span)>,
}

impl GraderNotes {
    /// Adds what is known about a member.
    fn extend(&mut self, member: &GraderNotes) {
        self.users.extend_from_slice(&member.users);
        self.fields.extend_from_slice(&member.fields);
        self.needs_reference |= member.needs_reference;
        self.bare_judges.extend_from_slice(&member.bare_judges);
        self.bare_comparisons.extend_from_slice(&member.bare_comparisons);
    }
}

/// A grader as it was read.
#[derive(Debug, Clone)]
pub(crate) struct ParsedGrader {
    /// The grader, with the name its author gave it or an automatic one.
    pub(crate) grader: Grader,
    /// Where the author wrote the name.
    pub(crate) named: Option<Span>,
    /// The entry.
    pub(crate) span: Span,
    /// What checks of the whole case need to know.
    pub(crate) notes: GraderNotes,
    /// The entry has a reported problem; the grader is a stand-in, so that a case does not seem to have no graders.
    pub(crate) is_broken: bool,
}

impl ParsedGrader {
    pub(crate) fn new(grader: Grader, span: Span) -> Self {
        Self { grader, named: None, span, notes: GraderNotes::default(), is_broken: false }
    }
}

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
    pub(crate) fn reference_key(&self) -> &'static str {
        if self.tasks_layout { "expected_outcome" } else { "expected_output" }
    }
}

/// What a table cannot state about the settings of a type: reads keys by hand, and checks them together.
struct Rules<'f, 'n, 'a> {
    fields: &'f mut Fields<'n>,
    parts: &'f mut Parts,
    cx: GraderContext<'a>,
    notes: &'f mut GraderNotes,
}

impl Rules<'_, '_, '_> {
    fn read_preprocessors(&mut self, d: &mut Diagnostics) {
        if let Some(entry) = self.fields.get("preprocessors") {
            self.parts.set("preprocessors", Written::made(preprocessors(entry, self.cx.scope, d)));
        }
    }
}

/// Reads `preprocessors`; entries with problems are reported and left out.
pub(crate) fn preprocessors(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<Preprocessor> {
    let Some(items) = fields::list(&entry.value, &fields::label(entry), d) else { return Vec::new() };
    let mut read: Vec<(Preprocessor, &Node)> = Vec::new();
    for item in items {
        let Some(preprocessor) = object::<Preprocessor>(item, scope, d) else { continue };
        let media_type = media_type::of_name(&preprocessor.media_type);
        if let Some((_, first)) = read.iter().find(|(known, _)| media_type::of_name(&known.media_type) == media_type) {
            let [first, place] =
                [*first, item].map(|item| item.entry("type").map_or(item.span, |entry| entry.value.span));
            let message = format!("two preprocessors take files of type `{media_type}`");
            report_both(Code::SettingConflict, (place, message), (first, "first here"), "delete one", d);
        }
        read.push((preprocessor, item));
    }
    read.into_iter().map(|(preprocessor, _)| preprocessor).collect()
}

/// Whether a text is a valid pattern, as far as it is known now.
fn is_pattern(text: &str, flags: &str, node: &Node, cx: GraderContext<'_>, d: &mut Diagnostics) -> bool {
    if fields::control_character(node, "the pattern", d) {
        return false;
    }
    if cx.interpolates() && Syntax::Variable.is_in(text) {
        let message = "the pattern is known only at run time, because it is interpolated";
        d.report(Code::CheckedAtRunTime, node.span, message, "write the pattern out to have it checked now");
        return true;
    }
    let checked = cx.scope.shared.patterns.check(text, flags);
    if let Err(problem) = &checked {
        let help = problem.help("patterns have the syntax of the crate `fancy-regex`");
        let span = problem.offset.map(|offset| cx.scope.files.character_of(node.span, text, offset));
        match span.filter(|span| *span != node.span) {
            Some(character) => d.report(problem.code, character, &problem.message, help),
            None => d.report(problem.code, node.span, problem.message_with_offset(), help),
        }
    }
    checked.is_ok()
}

type Check = fn(Rules<'_, '_, '_>, &mut Diagnostics);

/// What a file of this folder knows of its types.
struct Family {
    /// The types that have rules.
    rules: &'static [(&'static str, Check)],
    /// What a grader says whatever the agent does.
    constant: fn(&GraderConfig) -> Option<Constant>,
}

const FAMILIES: &[Family] = &[
    code_grader::FAMILY,
    compare::FAMILY,
    composite::FAMILY,
    field_accuracy::FAMILY,
    json_schema::FAMILY,
    llm_grader::FAMILY,
    metric_graders::FAMILY,
    regex::FAMILY,
    similar::FAMILY,
    text_graders::FAMILY,
    tool_trajectory::FAMILY,
];

/// Reads the settings of the built-in type of `table`. `None`: a problem was reported.
pub(crate) fn settings(
    table: &'static Table,
    fields: &mut Fields<'_>,
    cx: GraderContext<'_>,
    notes: &mut GraderNotes,
    d: &mut Diagnostics,
) -> Option<GraderConfig> {
    if let Some(problem) = text_graders::several_texts(table, fields) {
        fields.ignore_unread();
        d.push(problem);
        return None;
    }
    let mut parts = fields.parts(cx.scope, d);
    let mut rules = FAMILIES.iter().flat_map(|family| family.rules);
    if let Some((_, check)) = rules.find(|(name, _)| *name == table.id) {
        check(Rules { fields, parts: &mut parts, cx, notes }, d);
    }
    let name = if table.id == RUBRIC.id { "rubrics" } else { table.id };
    GraderConfig::from_parts(name, parts)
}

/// The table of the built-in type with this name; `_` and `-` are the same.
pub(crate) fn built_in(name: &str) -> Option<&'static Table> {
    let found = |name: &str| TABLES.iter().find(|table| table.id == name).copied();
    if name.contains('_') { found(&name.replace('_', "-")) } else { found(name) }
}

/// The name of a grader without `name`; `written` is the type as written.
pub(crate) fn automatic_name(config: &GraderConfig, written: &str) -> String {
    match (config, config.settings().name_part()) {
        // The name that it is registered with, as in every layout.
        (GraderConfig::User { grader, .. }, _) => grader.clone(),
        (_, Some(part)) => format!("{}-{part}", config.type_name()),
        (_, None) => written.replace('_', "-"),
    }
}

/// Whether no name is there twice; if one is, this is reported at the second place.
fn are_different<'n>(
    names: impl Iterator<Item = (&'n str, Span)>,
    code: Code,
    message: impl Fn(&str) -> String,
    help: &str,
    d: &mut Diagnostics,
) -> bool {
    let (mut seen, mut are_different) = (HashMap::new(), true);
    for (name, place) in names {
        if let Some(first) = seen.get(name) {
            report_both(code, (place, message(name)), (*first, "first here"), help, d);
            are_different = false;
        } else {
            seen.insert(name, place);
        }
    }
    are_different
}

/// A share in a weighted mean.
pub(crate) fn weight(node: &Node, what: &str, d: &mut Diagnostics) -> Option<f64> {
    node.as_f64().filter(|value| *value >= 0.0 && value.is_finite()).or_else(|| {
        let message = format!("{what} is {}", node.number_or_kind());
        fields::reject(Code::InvalidWeight, node.span, message, "write a number of at least 0", d)
    })
}
