//! Rules of `similar`.

use super::{Family, Rules};
use crate::diagnostic::{Code, Diagnostics};
use crate::fields::{self, label};

pub(super) const FAMILY: Family = Family { rules: &[("similar", similar)], constant: |_| None };

/// `threshold` is the pass mark. In the tasks layout, whose references are not text, `value` is required.
fn similar(rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
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
