//! Rules of `field-accuracy`.

use evalsuite_schema::grader::{DateFormat, Field, FieldMatch};
use evalsuite_schema::keys::{Keys, Written};

use super::{GraderNotes, Rules};
use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::fields::Fields;
use crate::fields::paths::Scope;
use crate::read::node::Node;

pub(super) fn field_accuracy(rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
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
