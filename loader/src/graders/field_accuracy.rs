//! `field-accuracy`, and whether a case's reference has the fields.

use evalsuite_schema::grader::{DateFormat, Field, FieldAccuracy, FieldAggregation, FieldMatch};

use super::{GraderNotes, require};
use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::fields::Fields;
use crate::keys::grader::field_accuracy::{AGGREGATIONS, DATE_FORMATS, FIELD, MATCHES, MatchName};
use crate::read::node::{Entry, Node};

pub(super) fn read(fields: &mut Fields<'_>, notes: &mut GraderNotes, d: &mut Diagnostics) -> Option<FieldAccuracy> {
    let entry = require(fields, "fields", d);
    let aggregation = match fields.get("aggregation") {
        Some(entry) => fields::choice(&entry.value, "`aggregation`", AGGREGATIONS, d),
        None => Some(FieldAggregation::default()),
    };
    let node = &entry?.value;
    let items = fields::list(node, "`fields`", d)?;
    if items.is_empty() {
        return fields::reject(
            Code::MissingGraderSetting,
            node.span,
            "`fields` is empty",
            "add a field with `path` and `match`",
            d,
        );
    }
    let fields: Vec<Field> = items.iter().filter_map(|item| field(item, notes, d)).collect();
    if fields.len() < items.len() {
        return None;
    }
    if fields.iter().all(|field| field.weight == 0.0) {
        return fields::reject(Code::ZeroTotalWeight, node.span, "every field has weight 0", "give one a weight", d);
    }
    notes.needs_reference = true;
    Some(FieldAccuracy { fields, aggregation: aggregation? })
}

fn field(node: &Node, notes: &mut GraderNotes, d: &mut Diagnostics) -> Option<Field> {
    let mut fields = Fields::new(node, &FIELD, d)?;
    let path_entry = require(&mut fields, "path", d);
    let match_entry = require(&mut fields, "match", d);
    let required = fields.read_or("required", true, fields::boolean, d);
    let weight = fields.read_or("weight", 1.0, super::weight, d);
    let tolerance_entry = fields.get("tolerance");
    let relative_entry = fields.get("relative");
    let formats_entry = fields.get("formats");
    fields.finish(d);
    let path = path_entry.and_then(|entry| fields::text(&entry.value, "`path`", d));
    let tolerance = tolerance_entry.map_or(Some(0.0), |entry| fields::not_negative(&entry.value, "`tolerance`", d));
    let relative = relative_entry.map_or(Some(false), |entry| fields::boolean(&entry.value, "`relative`", d));
    let formats = formats_entry.map_or(Some(Vec::new()), |entry| formats(&entry.value, d));
    let kind = match_entry.and_then(|entry| fields::choice(&entry.value, "`match`", MATCHES, d))?;
    let mut fits = true;
    for (entry, owner) in [
        (tolerance_entry, MatchName::NumericTolerance),
        (relative_entry, MatchName::NumericTolerance),
        (formats_entry, MatchName::Date),
    ] {
        if let Some(entry) = entry.filter(|_| kind != owner) {
            useless(entry, owner, d);
            fits = false;
        }
    }
    let matching = match kind {
        MatchName::Exact => FieldMatch::Exact,
        MatchName::NumericTolerance => FieldMatch::NumericTolerance { tolerance: tolerance?, relative: relative? },
        MatchName::Date => FieldMatch::Date { formats: formats? },
    };
    let path = path?;
    if let Some(entry) = path_entry {
        notes.fields.push((path.clone(), entry.value.span));
    }
    fits.then_some(Field { path, matching, required: required?, weight: weight? })
}

fn useless(entry: &Entry, owner: MatchName, d: &mut Diagnostics) {
    let word = MATCHES.iter().find(|(_, known)| *known == owner).map_or("", |(word, _)| word);
    d.report(
        Code::SettingConflict,
        entry.key_span,
        format!("`{}` has a meaning only with `match: {word}`", entry.key),
        format!("delete it, or write `match: {word}`"),
    );
}

fn formats(node: &Node, d: &mut Diagnostics) -> Option<Vec<DateFormat>> {
    let items = fields::list(node, "`formats`", d)?;
    let read = |item| fields::choice(item, "a date format", DATE_FORMATS, d);
    let formats: Vec<DateFormat> = items.iter().filter_map(read).collect();
    (formats.len() == items.len()).then_some(formats)
}
