//! Rules of `field-accuracy`, and whether the reference answer of a case has what it compares.

use std::cell::OnceCell;

use evalsuite_schema::diagnostics::suggest;
use evalsuite_schema::grader::{DateFormat, Field, FieldAccuracy, FieldMatch, Grader, GraderConfig, expected_document};
use evalsuite_schema::keys::{Keys, Written};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{Content, Message, Value};

use super::{CaseFacts, Family, GraderNotes, ParsedGrader, Rules};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, are_many};
use crate::fields;
use crate::fields::Fields;
use crate::fields::paths::Scope;
use crate::read::node::Node;

pub(super) const FAMILY: Family = Family { rules: &[("field-accuracy", field_accuracy)], constant: |_| None };

fn field_accuracy(rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
    let Rules { fields, parts, cx, notes } = rules;
    let entry = fields.require("fields", d);
    parts.make("fields", entry.and_then(|entry| list(&entry.value, cx.scope, notes, d)));
    notes.needs_reference = !parts.is_broken();
}

fn list(node: &Node, scope: Scope<'_>, notes: &mut GraderNotes, d: &mut Diagnostics) -> Option<Vec<Field>> {
    let items = fields::list(node, "`fields`", d)?;
    if items.is_empty() {
        let help = "add a field with `path` and `match`";
        return fields::reject(Code::MissingGraderSetting, node.span, "`fields` is empty", help, d);
    }
    let fields = fields::all(items, |item| field(item, scope, notes, d))?;
    if fields.iter().all(|field| field.weight == 0.0) {
        return fields::reject(Code::ZeroTotalWeight, node.span, "every field has weight 0", "give one a weight", d);
    }
    Some(fields)
}

fn field(node: &Node, scope: Scope<'_>, notes: &mut GraderNotes, d: &mut Diagnostics) -> Option<Field> {
    let mut fields = Fields::new(node, Field::TABLE, d)?;
    let mut parts = fields.parts(scope, d);
    if let Some(weight) = fields.read_or("weight", 1.0, super::weight, d) {
        parts.set("weight", Written::Number(weight));
    } else {
        parts.mark_broken();
    }
    let [tolerance, relative, formats] = ["tolerance", "relative", "formats"].map(|key| fields.get(key));
    let of_date = formats.map_or(Some(Vec::new()), |entry| self::formats(&entry.value, d));
    let path = fields.get("path");
    fields.finish(d);
    let matching = parts.get("match").and_then(Written::word)?;
    for (entry, owner) in [(tolerance, "numeric_tolerance"), (relative, "numeric_tolerance"), (formats, "date")] {
        if let Some(entry) = entry.filter(|_| matching != owner) {
            let message = format!("`{}` has a meaning only with `match: {owner}`", entry.key);
            d.report(Code::SettingConflict, entry.key_span, message, format!("delete it, or write `match: {owner}`"));
            parts.mark_broken();
        }
    }
    let matching = match matching {
        "numeric_tolerance" => parts
            .take_or("tolerance", 0.0)
            .zip(parts.take("relative"))
            .map(|(tolerance, relative)| FieldMatch::NumericTolerance { tolerance, relative }),
        "date" => of_date.map(|formats| FieldMatch::Date { formats }),
        _ => Some(FieldMatch::Exact),
    };
    parts.make("match", matching);
    if let (Some(entry), Some(Written::Text(text))) = (path, parts.get("path")) {
        notes.fields.push((text.clone(), entry.value.span));
    }
    parts.into_value()
}

fn formats(node: &Node, d: &mut Diagnostics) -> Option<Vec<DateFormat>> {
    let items = fields::list(node, "`formats`", d)?;
    let read = |item: &Node| fields::word(item, "a date format", DateFormat::WORDS, d).and_then(DateFormat::of_word);
    fields::all(items, read)
}

/// The reference answer of a case, which is read when the first grader compares with it.
#[derive(Default)]
pub(super) struct ReferenceAnswer(OnceCell<Reference>);

impl ReferenceAnswer {
    /// Reports fields that the reference answer of the case does not have.
    pub(super) fn check(&self, parsed: &mut ParsedGrader, is_own: bool, facts: &CaseFacts<'_>, d: &mut Diagnostics) {
        if parsed.notes.needs_reference && !facts.reference_is_broken {
            self.0.get_or_init(|| Reference::of(facts.expected_output)).check(parsed, is_own, facts, d);
        }
    }
}

/// The document that fields are compared with, as far as it is known while compiling.
enum Reference {
    Missing,
    /// It is interpolated.
    Unknown,
    Document(Value),
}

impl Reference {
    fn of(messages: &[Message]) -> Self {
        let is_interpolated =
            |message: &Message| matches!(&message.content, Some(Content::Text(text)) if Syntax::Variable.is_in(text));
        if messages.iter().any(is_interpolated) {
            return Reference::Unknown;
        }
        expected_document(messages).map_or(Reference::Missing, Reference::Document)
    }

    /// Reports fields that the reference does not have; those of a suite's grader are left out for this case.
    fn check(&self, parsed: &mut ParsedGrader, is_own: bool, facts: &CaseFacts<'_>, d: &mut Diagnostics) {
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
    if let GraderConfig::FieldAccuracy(config) = &mut grader.config {
        config.fields.retain(|field| {
            Syntax::Variable.is_in(&field.path) || FieldAccuracy::find(document, &field.path).is_some()
        });
    }
    let members = grader.config.settings_mut().into_iter().flat_map(|settings| settings.members_mut());
    members.for_each(|member| leave_out(member, document));
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

#[cfg(test)]
mod tests {
    use evalsuite_schema::grader::{DateFormat, FieldAggregation, FieldMatch, GraderConfig};

    use crate::graders::tests::{check, config};

    #[test]
    fn a_field_says_how_it_is_compared() {
        let entry = "{type: field-accuracy, aggregation: all_or_nothing, fields: [{path: a, match: exact},
        {path: 'b[0].c', match: numeric_tolerance, tolerance: 0.5, relative: true, weight: 2, required: false},
        {path: d, match: date, formats: [DD/MM/YYYY]}]}";
        let GraderConfig::FieldAccuracy(accuracy) = config(entry) else { panic!("another type") };
        assert_eq!(accuracy.aggregation, FieldAggregation::AllOrNothing);
        assert_eq!(accuracy.fields[0].matching, FieldMatch::Exact);
        assert!(accuracy.fields[0].required);
        assert_eq!(accuracy.fields[1].matching, FieldMatch::NumericTolerance { tolerance: 0.5, relative: true });
        assert_eq!((accuracy.fields[1].weight, accuracy.fields[1].required), (2.0, false));
        assert_eq!(accuracy.fields[2].matching, FieldMatch::Date { formats: vec![DateFormat::DayMonthSlash] });
    }

    #[test]
    fn bad_fields_are_errors() {
        check(&[
            ("{type: field-accuracy}", &["1:3 E052 missing key `fields` in `field-accuracy`"]),
            ("{type: field-accuracy, fields: []}", &["1:34 E052 `fields` is empty"]),
            ("{type: field-accuracy, fields: [a]}", &["1:35 E020 a field must be a mapping, found text"]),
            ("{type: field-accuracy, fields: [{match: exact}]}", &["1:35 E052 missing key `path` in a field"]),
            ("{type: field-accuracy, fields: [{path: a}]}", &["1:35 E052 missing key `match` in a field"]),
            (
                "{type: field-accuracy, fields: [{path: a, match: numeric-tolerance}]}",
                &[
                    "1:52 E023 `match` is `numeric-tolerance`, which is not one of `exact`, `numeric_tolerance` and `date`",
                ],
            ),
            (
                "{type: field-accuracy, fields: [{path: a, match: exact, tolerance: 1, formats: []}]}",
                &[
                    "1:59 E028 `tolerance` has a meaning only with `match: numeric_tolerance`",
                    "1:73 E028 `formats` has a meaning only with `match: date`",
                ],
            ),
            (
                "{type: field-accuracy, fields: [{path: a, match: date, formats: [YYYY]}]}",
                &[
                    "1:68 E023 a date format is `YYYY`, which is not one of `YYYY-MM-DDTHH:mm:ssZ`, `YYYY-MM-DDTHH:mm:ss`, `YYYY-MM-DD`, \
                 `DD-MMM-YYYY`, `MM/DD/YYYY`, `DD/MM/YYYY`, `MM-DD-YYYY` and `DD-MM-YYYY`",
                ],
            ),
            (
                "{type: field-accuracy, fields: [{path: a, match: exact, weight: 0}]}",
                &["1:34 E061 every field has weight 0"],
            ),
            ("{type: field-accuracy, fields: [{path: a, match: exact, weight: -1}]}", &["1:67 E060 `weight` is -1"]),
        ]);
    }
}
