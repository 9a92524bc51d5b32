//! Rules of `llm-grader`, `rubrics` and `compare`.

use evalsuite_schema::grader::ReferenceAnswer;
use evalsuite_schema::keys::Written;
use evalsuite_schema::line_breaks::with_line_feeds;

use super::{GraderContext, Rules, criteria, prompt};
use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::fields::label;
use crate::read::node::Node;

pub(super) fn llm_grader(mut rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
    rules.read_preprocessors(d);
    let Rules { fields, parts, cx, notes } = rules;
    let prompt = fields.get("prompt").map(|entry| prompt::grader(&entry.value, cx, d));
    let rubrics = fields.get("rubrics").map(|entry| criteria::list(&entry.value, "`rubrics`", d));
    if prompt.is_none() && rubrics.as_ref().is_none_or(|rubrics| rubrics.as_ref().is_some_and(Vec::is_empty)) {
        notes.bare_judges.push(fields.node.span);
    }
    if let Some(prompt) = prompt {
        parts.make("prompt", prompt);
    }
    if let Some(rubrics) = rubrics {
        parts.make("rubrics", rubrics);
    }
}

pub(super) fn criteria_under(key: &'static str, mut rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
    rules.read_preprocessors(d);
    let Rules { fields, parts, .. } = rules;
    let Some(entry) = fields.require(key, d) else { return parts.mark_broken() };
    let criteria = criteria::one_or_list(&entry.value, &label(entry), d);
    if criteria.as_ref().is_some_and(Vec::is_empty) {
        let message = format!("{} is empty", label(entry));
        d.report(Code::MissingGraderSetting, entry.value.span, message, "add a criterion");
        return parts.mark_broken();
    }
    parts.make("criteria", criteria);
}

/// In the tasks layout, whose references are not answers, it needs `reference` or `against`.
pub(super) fn compare(mut rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
    rules.read_preprocessors(d);
    let Rules { fields, parts, cx, notes } = rules;
    let entry = fields.get("reference");
    if parts.get("against").and_then(Written::word) == Some("baseline") {
        if let Some(entry) = entry {
            let message = "`reference` has no effect beside `against: baseline`";
            d.report(Code::SettingConflict, entry.key_span, message, "delete one of them");
        }
    } else if entry.is_none() {
        match cx.interpolates() {
            true => notes.bare_comparisons.push(("compare", "reference", fields.node.span)),
            false => fields.missing(Code::MissingGraderSetting, "reference", d),
        }
    }
    if let Some(entry) = entry {
        parts.make("reference", reference(&entry.value, cx, d));
    }
}

/// An answer to compare with: text or a file.
fn reference(node: &Node, cx: GraderContext<'_>, d: &mut Diagnostics) -> Option<ReferenceAnswer> {
    let text = fields::text(node, "`reference`", d)?;
    match text.trim().strip_prefix("file://") {
        Some(path) => {
            let (file, _, text) = prompt::file_text(path, node, "`reference`", cx, d)?;
            Some(ReferenceAnswer::File { file, text: with_line_feeds(&text).into_owned() })
        }
        None => {
            prompt::check_for_path(&text, node, "reference", d);
            Some(ReferenceAnswer::Text(text))
        }
    }
}
