//! Rules of `regex`, and of the graders that look for texts.

use evalsuite_schema::grader::{GraderConfig, trim};
use evalsuite_schema::keys::Written;
use evalsuite_schema::placeholder::Syntax;

use super::{Constant, Family, GraderContext, Rules};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields::pattern::constant_match;
use crate::fields::{self, Fields};
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

pub(super) const FAMILY: Family = Family { rules: &[("regex", regex)], constant };

/// The pattern has to be one, with its flags.
fn regex(rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
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

fn constant(config: &GraderConfig) -> Option<Constant> {
    match config {
        GraderConfig::StartsWith(text) | GraderConfig::EndsWith(text) if trim(&text.value).is_empty() => {
            let verb = if matches!(config, GraderConfig::StartsWith(_)) { "starts" } else { "ends" };
            let reason = format!("white space around both texts is ignored, and every answer {verb} with nothing");
            let help = "write the text to look for; white space is found by `regex`, such as `'\\n\\z'`";
            Some(Constant { passes: true, key: "value", reason, help: help.to_owned() })
        }
        GraderConfig::Regex(regex) if !Syntax::Variable.is_in(&regex.value) => {
            let passes = constant_match(&regex.value, &regex.flags)?;
            let (reason, help) = match passes {
                true => ("the pattern matches every answer", "write a pattern that needs a character of the answer"),
                false => (
                    "the pattern matches no answer",
                    "write `\\$` for a dollar sign, `\\^` for `^`, or the flag `m` for `^` and `$` at lines",
                ),
            };
            Some(Constant { passes, key: "value", reason: reason.to_owned(), help: help.to_owned() })
        }
        _ => None,
    }
}
