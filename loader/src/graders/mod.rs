//! Settings of graders: one file per family, and what all of them share.

pub(crate) mod assertions;
mod code;
mod composite;
mod constant;
mod criteria;
pub(crate) mod examples;
mod field_accuracy;
pub(crate) mod json_schema;
mod judge;
mod other_tools;
mod text;
mod trajectory;
pub(crate) mod transform;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashMap;
use std::path::Path;

use evalsuite_schema::grader::{GraderConfig, Preprocessor, TABLES};
use evalsuite_schema::keys::{Parts, Written};
use evalsuite_schema::media_type;

use crate::diagnostic::{Code, Diagnostics, report_both};
use crate::fields;
use crate::fields::Fields;
use crate::fields::paths::Scope;
use crate::fields::settings::object;
use crate::keys::{RUBRIC, Table};
use crate::read::node::{Entry, Node};
use crate::source::Span;

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

type Check = fn(Rules<'_, '_, '_>, &mut Diagnostics);

/// The types that have rules.
const RULES: &[(&str, Check)] = &[
    ("regex", text::regex),
    ("similar", text::similar),
    ("latency", latency),
    ("contains-json", json_schema::contains_json),
    ("json-schema", json_schema::json_schema),
    ("token-usage", |rules, d| needs_limit(rules, "`max_total`, `max_input` or `max_output`", d)),
    ("execution-metrics", |mut rules, d| {
        check_bounds(&mut rules, d);
        needs_limit(rules, "a limit such as `max_tool_calls`, or `target_exploration_ratio`", d);
    }),
    ("tool-trajectory", trajectory::tools),
    ("field-accuracy", field_accuracy::field_accuracy),
    ("code-grader", code::code_grader),
    ("composite", composite::composite),
    ("llm-grader", judge::llm_grader),
    ("rubrics", |rules, d| judge::criteria_under("criteria", rules, d)),
    ("rubric", |rules, d| judge::criteria_under("rubrics", rules, d)),
    ("compare", judge::compare),
];

/// Shortest limit of a duration that is not taken for seconds, in milliseconds: no model answers faster.
const SHORTEST_LATENCY: f64 = 100.0;

/// A limit that is not meant in milliseconds.
fn latency(rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
    let Some(entry) = rules.fields.written(rules.fields.key("threshold")) else { return };
    let Some(limit) = entry.value.as_f64().filter(|limit| (0.0..SHORTEST_LATENCY).contains(limit)) else { return };
    let message = format!("`threshold` is in milliseconds: no model answers in {limit} ms");
    let help = match limit {
        0.0 => "write the longest duration that passes, such as `threshold: 5000`".to_owned(),
        _ => {
            let milliseconds = limit * 1000.0;
            format!("if seconds are meant, write `threshold: {milliseconds}`; an agent without a model may be so fast")
        }
    };
    d.report(Code::UnlikelyLimit, entry.value.span, message, help);
}

/// There is at least one limit; a tolerance alone checks nothing.
fn needs_limit(rules: Rules<'_, '_, '_>, limits: &str, d: &mut Diagnostics) {
    let Rules { fields, parts, .. } = rules;
    let mut keys = fields.object.keys.iter().filter(|key| key.name != "exploration_tolerance");
    if !keys.any(|key| fields.written(key).is_some()) {
        let message = "the grader has nothing to check";
        d.report(Code::MissingGraderSetting, fields.node.span, message, format!("add {limits}"));
        parts.mark_broken();
    }
}

/// A smallest number is at most the largest one.
fn check_bounds(rules: &mut Rules<'_, '_, '_>, d: &mut Diagnostics) {
    for (low, high) in [("min_tool_calls", "max_tool_calls"), ("min_llm_calls", "max_llm_calls")] {
        let [low, high] = [low, high].map(|key| rules.fields.written(rules.fields.key(key)));
        let (Some(low), Some(high)) = (low, high) else { continue };
        if let (Some(least), Some(most)) = (low.value.as_f64(), high.value.as_f64())
            && least > most
        {
            let message = format!("{} is {least}, and {} is {most}", fields::label(low), fields::label(high));
            let help = "write a maximum of at least the minimum";
            report_both(Code::SettingConflict, (high.value.span, message), (low.value.span, "the minimum"), help, d);
            rules.parts.mark_broken();
        }
    }
}

/// Reads the settings of the built-in type of `table`. `None`: a problem was reported.
pub(crate) fn settings(
    table: &'static Table,
    fields: &mut Fields<'_>,
    cx: GraderContext<'_>,
    notes: &mut GraderNotes,
    d: &mut Diagnostics,
) -> Option<GraderConfig> {
    if let Some(problem) = text::several_texts(table, fields) {
        fields.ignore_unread();
        d.push(problem);
        return None;
    }
    let mut parts = fields.parts(cx.scope, d);
    if let Some((_, check)) = RULES.iter().find(|(name, _)| *name == table.id) {
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
    match config {
        GraderConfig::Contains(text)
        | GraderConfig::Icontains(text)
        | GraderConfig::StartsWith(text)
        | GraderConfig::EndsWith(text)
        | GraderConfig::Equals(text) => format!("{}-{}", config.type_name(), text.value),
        GraderConfig::ContainsAny(list)
        | GraderConfig::ContainsAll(list)
        | GraderConfig::IcontainsAny(list)
        | GraderConfig::IcontainsAll(list) => format!("{}-{}", config.type_name(), list.value.len()),
        GraderConfig::Regex(regex) => {
            let end = regex.value.char_indices().nth(30).map_or(regex.value.len(), |(end, _)| end);
            format!("regex-{}", &regex.value[..end])
        }
        GraderConfig::SkillTrigger(trigger) => format!("skill-trigger-{}", trigger.skill),
        // The name that it is registered with, as in every layout.
        GraderConfig::User { grader, .. } => grader.clone(),
        _ => written.replace('_', "-"),
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
