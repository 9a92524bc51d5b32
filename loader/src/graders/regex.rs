//! Rules of `regex`.

use evalsuite_schema::grader::GraderConfig;
use evalsuite_schema::keys::Written;
use evalsuite_schema::placeholder::Syntax;

use super::{Constant, Family, Rules, is_pattern};
use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::fields::pattern::constant_match;
use crate::read::node::Node;

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
    let GraderConfig::Regex(regex) = config else { return None };
    if Syntax::Variable.is_in(&regex.value) {
        return None;
    }
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
