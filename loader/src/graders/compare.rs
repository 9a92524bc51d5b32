//! Rules of `compare`.

use evalsuite_schema::grader::ReferenceAnswer;
use evalsuite_schema::keys::Written;
use evalsuite_schema::line_breaks::with_line_feeds;

use super::llm_grader::{check_for_path, file_text};
use super::{Family, GraderContext, Rules};
use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::read::node::Node;

pub(super) const FAMILY: Family = Family { rules: &[("compare", compare)], constant: |_| None };

/// In the tasks layout, whose references are not answers, it needs `reference` or `against`.
fn compare(mut rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
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
            let (file, _, text) = file_text(path, node, "`reference`", cx, d)?;
            Some(ReferenceAnswer::File { file, text: with_line_feeds(&text).into_owned() })
        }
        None => {
            check_for_path(&text, node, "reference", d);
            Some(ReferenceAnswer::Text(text))
        }
    }
}
