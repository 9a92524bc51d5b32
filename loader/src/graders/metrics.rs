//! Rules of `token-usage` and `execution-metrics`.

use super::Rules;
use crate::diagnostic::{Code, Diagnostics};

pub(super) fn token_usage(rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
    needs_limit(rules, "`max_total`, `max_input` or `max_output`", d);
}

pub(super) fn execution_metrics(rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
    needs_limit(rules, "a limit such as `max_tool_calls`, or `target_exploration_ratio`", d);
}

/// There is at least one limit; a tolerance alone checks nothing.
fn needs_limit(rules: Rules<'_, '_, '_>, limits: &str, d: &mut Diagnostics) {
    let Rules { fields, parts, .. } = rules;
    let mut keys = fields.object.keys.iter().filter(|key| key.name != "exploration_tolerance");
    if !keys.any(|key| fields.written(key).is_some()) {
        let message = "the grader has nothing to check";
        d.report(Code::MissingGraderSetting, fields.node.span, message, format!("add {limits}"));
        parts.mark_broken();
    }
}
