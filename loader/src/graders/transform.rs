//! `transform` of a grader: steps that change the answer before the grader sees it.

use evalsuite_schema::grader::{AnswerStep, ObjectStep, StepWord};
use evalsuite_schema::keys::Keys;

use super::{GraderContext, text};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields;
use crate::fields::Fields;
use crate::read::node::Node;

/// The steps in order; those with problems are left out.
pub(crate) fn read(fields: &mut Fields<'_>, cx: GraderContext<'_>, d: &mut Diagnostics) -> Vec<AnswerStep> {
    let Some(entry) = fields.get("transform") else { return Vec::new() };
    let steps = fields::list(&entry.value, "`transform`", d).unwrap_or_default();
    steps.iter().filter_map(|node| step(node, cx, d)).collect()
}

fn step(node: &Node, cx: GraderContext<'_>, d: &mut Diagnostics) -> Option<AnswerStep> {
    if node.as_mapping().is_some() {
        return object(node, cx, d);
    }
    let word = fields::word(node, "a step of `transform`", StepWord::WORDS, d)?;
    StepWord::of_word(word).map(AnswerStep::from)
}

fn object(node: &Node, cx: GraderContext<'_>, d: &mut Diagnostics) -> Option<AnswerStep> {
    let mut fields = Fields::new(node, ObjectStep::TABLE, d)?;
    let (json, replace, with) = (fields.get("json"), fields.get("replace"), fields.get("with"));
    let is_misspelt = fields.misspells(&["json", "replace"]);
    let parts = fields.parts(cx.scope, d);
    fields.finish(d);
    match (json, replace, with) {
        (Some(json), Some(replace), _) => {
            let help = "write two steps, in the order in which they are done";
            let problem = Diagnostic::new(Code::ConflictingKeys, "a step has either `json` or `replace`").help(help);
            d.push(problem.at(replace.key_span).related(json.key_span, "`json` is here"));
            return None;
        }
        (Some(_), None, Some(with)) => {
            let help = "delete it, or write `replace` for `json`";
            d.report(Code::SettingConflict, with.key_span, "`with` has no meaning with `json`", help);
            return None;
        }
        (None, None, _) if !is_misspelt => {
            let help = "add `json` for a value of an answer in JSON, or `replace` for a pattern";
            d.report(Code::MissingKey, node.span, "a step of `transform` has neither `json` nor `replace`", help);
        }
        _ => {}
    }
    let step: ObjectStep = parts.into_value()?;
    match (step.replace, replace) {
        (Some(pattern), Some(entry)) => {
            let is_pattern = text::is_pattern(&pattern, "", &entry.value, cx, d);
            is_pattern.then(|| AnswerStep::Replace { replace: pattern, with: step.with.unwrap_or_default() })
        }
        _ => step.json.map(AnswerStep::Json),
    }
}
