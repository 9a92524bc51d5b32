//! Candidates for panics that should be errors.

use super::Collector;
use crate::program::Edit;

/// Collects replacements of panics by error propagation, if the function can return an error, or by a default.
pub(super) fn collect(collector: &mut Collector<'_>) {
    for index in collector.suspicious() {
        let program = collector.program;
        let is_panic = program.token(index) == "."
            && matches!(program.token(index + 1), "unwrap" | "expect")
            && program.token(index + 2) == "(";
        let Some(close) = is_panic.then(|| program.closing(index + 2)).flatten() else { continue };
        let range = program.range(index).start..program.range(close).end;
        let called = program.token(index + 1);
        let returns =
            program.function_at(index).map(|function| program.between(function.signature.clone())).unwrap_or_default();
        let returns = returns.rsplit_once("->").map(|(_, returned)| returned).unwrap_or_default();
        let mut put = |text: &str, cost| {
            let edit = Edit { range: range.clone(), text: text.to_owned() };
            collector.add(vec![edit], format!("`.{called}(…)` becomes `{text}`"), cost);
        };
        if returns.contains("Result") || returns.contains("Option") {
            put("?", 0);
        }
        put(".unwrap_or_default()", 2);
    }
}
