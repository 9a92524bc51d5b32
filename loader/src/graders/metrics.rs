//! Rules of `token-usage` and `execution-metrics`.

use super::Rules;
use crate::diagnostic::{Code, Diagnostics};

/// There is at least one limit; a tolerance alone checks nothing.
pub(super) fn needs_limit(rules: Rules<'_, '_, '_>, limits: &str, d: &mut Diagnostics) {
    let Rules { fields, parts, .. } = rules;
    let mut keys = fields.object.keys.iter().filter(|key| key.name != "exploration_tolerance");
    if !keys.any(|key| fields.written(key).is_some()) {
        let message = "the grader has nothing to check";
        d.report(Code::MissingGraderSetting, fields.node.span, message, format!("add {limits}"));
        parts.mark_broken();
    }
}
