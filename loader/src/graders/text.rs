//! Rules of `regex` and `similar`.

use evalsuite_schema::keys::Written;
use evalsuite_schema::placeholder::Syntax;

use super::{GraderContext, Rules};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields::{self, Fields, label};
use crate::keys::Table;
use crate::read::node::Node;

/// A list where a type looks for one text.
pub(super) fn several_texts(table: &Table, fields: &mut Fields<'_>) -> Option<Diagnostic> {
    let looks_for_text = ["contains", "icontains", "equals", "starts-with", "ends-with", "regex", "similar"];
    let entry = looks_for_text.contains(&table.id).then(|| fields.get("value")).flatten()?;
    entry.value.as_sequence()?;
    let problem = Diagnostic::new(Code::WrongType, format!("`value` must be text, found {}", entry.value.kind()));
    let of_type = if table.id == "icontains" { "icontains" } else { "contains" };
    let help = match table.id {
        "contains" | "icontains" => {
            format!("write `type: {of_type}-any` if one of the texts is enough, or `type: {of_type}-all`")
        }
        _ => {
            format!("write one text, or a grader for each; `{of_type}-any` and `{of_type}-all` look for several texts")
        }
    };
    Some(problem.at(entry.value.span).help(help))
}

/// The pattern has to be one, with its flags.
pub(super) fn regex(rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
    let Rules { fields, parts, cx, .. } = rules;
    let flags = fields.get("flags").map_or(Some(String::new()), |entry| flags(&entry.value, d));
    if let (Some(Written::Text(value)), Some(entry), Some(flags)) =
        (parts.get("value"), fields.node.entry("value"), flags.as_deref())
        && !is_pattern(value, flags, &entry.value, cx, d)
    {
        parts.mark_broken();
    }
    parts.make("flags", flags);
}

/// Whether a text is a valid pattern, as far as it is known now.
pub(super) fn is_pattern(text: &str, flags: &str, node: &Node, cx: GraderContext<'_>, d: &mut Diagnostics) -> bool {
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

/// `threshold` is the pass mark. In the tasks layout, whose references are not text, `value` is required.
pub(super) fn similar(rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
    let Rules { fields, parts, cx, notes } = rules;
    if fields.get("value").is_none() {
        if cx.scope.roots.only_root {
            fields.missing(Code::MissingGraderSetting, "value", d);
            parts.mark_broken();
        } else {
            notes.bare_comparisons.push(("similar", "value", fields.node.span));
        }
    }
    let (min_score, threshold) = (fields.get("min_score"), fields.get("threshold"));
    if let Some(entry) = fields::either(min_score, threshold, d).filter(|entry| entry.key == "threshold") {
        notes.pass_mark = fields::pass_mark(&entry.value, &label(entry), d);
        if notes.pass_mark.is_none() {
            parts.mark_broken();
        }
    }
    if let (Some(mark), Some(_)) = (threshold, fields.get("max_distance")) {
        let message = "`threshold` has no meaning with `max_distance`";
        let help = "keep `max_distance` for a number of characters, or `threshold` for a share of them";
        d.report(Code::SettingConflict, mark.key_span, message, help);
        parts.mark_broken();
    }
}
