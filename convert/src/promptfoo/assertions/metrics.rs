//! Assertions about time and cost.

use evalsuite_schema::json::json;

use super::{Check, Grader};
use crate::yaml_writer::number;

pub(super) fn map(check: &Check<'_>) -> Result<Grader, String> {
    let threshold = check.threshold.ok_or("its threshold is not a number")?;
    if threshold < 0.0 {
        return Err("its threshold is below 0, so it never passes".to_owned());
    }
    let key = if check.kind == "latency" { "threshold" } else { "budget" };
    Ok(Grader::new(json!({"type": check.kind, key: number(threshold)})).negated(check.is_negated))
}
