//! Graders that pass, or fail, whatever the agent does. Such a grader is a mistake of its author.

use evalsuite_schema::Grader;
use evalsuite_schema::grader::{AnswerStep, GraderConfig, trim};
use evalsuite_schema::placeholder::Syntax;

use super::FAMILIES;
use crate::diagnostic::{Code, Diagnostics};
use crate::fields::control_character;
use crate::read::node::Node;

/// What a grader always says, before `negate`.
pub(super) struct Constant {
    pub(super) passes: bool,
    /// The key that is to blame.
    pub(super) key: &'static str,
    pub(super) reason: String,
    pub(super) help: String,
}

/// Reports a grader that cannot fail or cannot pass. `node`: the mapping with its settings.
pub(crate) fn check(grader: &Grader, node: &Node, d: &mut Diagnostics) {
    check_texts(grader, node, d);
    let Some(Constant { passes, key, reason, help }) = FAMILIES
        .iter()
        .find_map(|family| (family.constant)(&grader.config))
        .or_else(|| by_transform(&grader.transform, &grader.config))
    else {
        return;
    };
    let can_lack_text = grader.transform.iter().any(|step| matches!(step, AnswerStep::Json(_)));
    let place = node.entry(key).map_or(node.span, |entry| entry.value.span);
    let inverted = if grader.negate { ", and `negate` inverts the result" } else { "" };
    match passes != grader.negate {
        // An answer without the text that `json` looks for fails.
        true if can_lack_text => {}
        true => d.report(Code::GraderCannotFail, place, format!("the grader cannot fail: {reason}{inverted}"), help),
        false => d.report(Code::GraderCannotPass, place, format!("the grader cannot pass: {reason}{inverted}"), help),
    }
}

/// A text with letters that `transform` removes from the answer.
fn by_transform(steps: &[AnswerStep], config: &GraderConfig) -> Option<Constant> {
    let last = steps.iter().rev().find(|step| !matches!(step, AnswerStep::Trim))?;
    let (is_gone, letters): (fn(char) -> bool, _) = match last {
        AnswerStep::Lowercase => (|letter| !letter.to_lowercase().eq([letter]), ["upper", "lower"]),
        AnswerStep::Uppercase => (|letter| !letter.to_uppercase().eq([letter]), ["lower", "upper"]),
        _ => return None,
    };
    let gone = |text: &String| text.chars().find(|letter| is_gone(*letter)).filter(|_| !Syntax::Variable.is_in(text));
    let letter = match config {
        GraderConfig::Contains(text)
        | GraderConfig::Equals(text)
        | GraderConfig::StartsWith(text)
        | GraderConfig::EndsWith(text) => gone(&text.value),
        GraderConfig::ContainsAll(texts) => texts.value.iter().find_map(gone),
        GraderConfig::ContainsAny(texts) => texts.value.iter().map(gone).min().flatten(),
        _ => None,
    }?;
    let reason = format!("`transform` leaves no {} case letter in the answer, and `value` has `{letter}`", letters[0]);
    Some(Constant { passes: false, key: "value", reason, help: format!("write `value` in {} case", letters[1]) })
}

/// Reports texts to look for that cannot be meant as they are: blank ones where blanks are ignored, and control characters.
fn check_texts(grader: &Grader, node: &Node, d: &mut Diagnostics) {
    let (texts, kind) = (grader.config.settings().texts(), grader.config.type_name());
    let blank = matches!(kind, "equals" | "similar") && texts.iter().any(|text| trim(text).is_empty());
    let Some(entry) = node.entry("value").filter(|_| !texts.is_empty()) else { return };
    if blank {
        let help = "write the text; an answer that has to be empty is `type: regex` with `'\\A\\s*\\z'`";
        d.report(
            Code::BlankValue,
            entry.value.span,
            "`value` is blank, and blanks around both texts are ignored",
            help,
        );
    }
    for text in entry.value.as_sequence().unwrap_or(std::slice::from_ref(&entry.value)) {
        control_character(text, "`value`", d);
    }
}
