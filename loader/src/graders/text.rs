//! `contains` and its kin, `regex`, `similar`.

use evalsuite_schema::grader::{Regex, Similar, TextList, TextValue};
use evalsuite_schema::placeholder::Syntax;

use super::{GraderContext, GraderNotes, require};
use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::fields::{Fields, label};
use crate::keys::range;
use crate::read::node::Node;

/// Settings with one text.
pub(super) fn value(fields: &mut Fields<'_>, d: &mut Diagnostics) -> Option<TextValue> {
    let entry = require(fields, "value", d)?;
    not_empty(&entry.value, "`value`", d).map(|value| TextValue { value })
}

/// Settings with several texts.
pub(super) fn values(fields: &mut Fields<'_>, d: &mut Diagnostics) -> Option<TextList> {
    let entry = require(fields, "value", d)?;
    let items = fields::list(&entry.value, "`value`", d)?;
    if items.is_empty() {
        return fields::reject(
            Code::BlankValue,
            entry.value.span,
            "`value` is an empty list",
            "add a text to look for",
            d,
        );
    }
    let value: Vec<String> = items.iter().filter_map(|item| not_empty(item, "an element of `value`", d)).collect();
    (value.len() == items.len()).then_some(TextList { value })
}

/// Text that is not empty; it may be blank, since a grader can look for blanks.
fn not_empty(node: &Node, what: &str, d: &mut Diagnostics) -> Option<String> {
    let text = fields::string(node, what, d)?;
    if text.is_empty() {
        return fields::reject(
            Code::BlankValue,
            node.span,
            format!("{what} is empty"),
            "write the text to look for",
            d,
        );
    }
    Some(text)
}

/// Settings of `regex`.
pub(super) fn regex(fields: &mut Fields<'_>, cx: GraderContext<'_>, d: &mut Diagnostics) -> Option<Regex> {
    let value_entry = require(fields, "value", d);
    let flags_entry = fields.get("flags");
    let flags = flags_entry.map_or(Some(String::new()), |entry| flags(&entry.value, d));
    let node = &value_entry?.value;
    let value = not_empty(node, "`value`", d)?;
    let flags = flags?;
    if cx.interpolates() && Syntax::Variable.is_in(&value) {
        d.report(
            Code::CheckedAtRunTime,
            node.span,
            "the pattern is known only at run time, because it is interpolated",
            "write the pattern out to have it checked now",
        );
    } else if let Err(problem) = cx.scope.shared.patterns.check(&value, &flags) {
        let help = problem.help("patterns have the syntax of the crate `fancy-regex`");
        return fields::reject(problem.code, node.span, problem.message, help, d);
    }
    Some(Regex { value, flags })
}

/// Settings of `similar`. In the tasks layout, whose references are not text, `value` is required.
pub(super) fn similar(
    fields: &mut Fields<'_>,
    cx: GraderContext<'_>,
    notes: &mut GraderNotes,
    d: &mut Diagnostics,
) -> Option<Similar> {
    let value_entry = if cx.scope.roots.only_root { Some(require(fields, "value", d)?) } else { fields.get("value") };
    let (min_score, threshold) = (fields.get("min_score"), fields.get("threshold"));
    if let Some(entry) = fields::either(min_score, threshold, d).filter(|entry| entry.key == "threshold") {
        notes.pass_mark = Some(fields::number_in(&entry.value, &label(entry), &range::PASS_MARK, d)?);
    }
    let max_distance = match fields.get("max_distance") {
        Some(entry) => {
            if let Some(mark) = threshold {
                let message = "`threshold` has no meaning with `max_distance`";
                let help = "keep `max_distance` for a number of characters, or `threshold` for a share of them";
                return fields::reject(Code::SettingConflict, mark.key_span, message, help, d);
            }
            Some(fields::integer(&entry.value, "`max_distance`", 0, u64::MAX, d)?)
        }
        None => None,
    };
    let ignore_case = match fields.get("ignore_case") {
        Some(entry) => fields::boolean(&entry.value, "`ignore_case`", d)?,
        None => false,
    };
    let value = match value_entry {
        Some(entry) => Some(not_empty(&entry.value, "`value`", d)?),
        None => {
            notes.bare_comparisons.push(("similar", "value", fields.node.span));
            None
        }
    };
    Some(Similar { value, ignore_case, max_distance })
}

/// The flags that have an effect.
fn flags(node: &Node, d: &mut Diagnostics) -> Option<String> {
    let written = fields::string(node, "`flags`", d)?;
    let mut flags = String::with_capacity(written.len());
    let mut is_valid = true;
    for (index, flag) in written.char_indices() {
        let again = written[..index].contains(flag);
        match flag {
            'i' | 'm' | 's' | 'x' | 'u' if !again => flags.push(flag),
            'g' | 'y' if !again => d.report(
                Code::IgnoredRegexFlag,
                node.span,
                format!("flag `{flag}` has no effect: one match anywhere is enough"),
                "remove it",
            ),
            _ => {
                let problem = if again { "is given twice" } else { "is not known" };
                let message = format!("flag `{flag}` {problem}");
                d.report(Code::InvalidRegex, node.span, message, "flags are `i`, `m`, `s`, `x` and `u`, each once");
                is_valid = false;
            }
        }
    }
    is_valid.then_some(flags)
}
