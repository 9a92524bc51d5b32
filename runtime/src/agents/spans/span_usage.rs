//! Tokens and cost in fields of a span.

use evalsuite_records::record::Usage;
use evalsuite_schema::{Object, Value};

/// Tokens under their present and former names.
pub(crate) fn usage(fields: &Object) -> Option<Usage> {
    let input = count(fields, &["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"]);
    let output = count(fields, &["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"]);
    if input.is_none() && output.is_none() {
        return None;
    }
    let cached = count(
        fields,
        &[
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.cache_read_input_tokens",
            "gen_ai.usage.cache_read_tokens",
            "gen_ai.usage.cached_input_tokens",
            "gen_ai.usage.cached_tokens",
        ],
    );
    let reasoning = count(
        fields,
        &["gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens", "gen_ai.usage.thinking_tokens"],
    );
    let (input, cached) = (input.unwrap_or(0), cached.unwrap_or(0));
    // Cached tokens are part of the input by the conventions; where they are more, they were left out of it.
    let fresh = input.checked_sub(cached).unwrap_or(input);
    Some(Usage::new(fresh, output.unwrap_or(0)).with_cached(cached).with_reasoning(reasoning.unwrap_or(0)))
}

fn count(fields: &Object, names: &[&str]) -> Option<u64> {
    names.iter().find_map(|name| match fields.get(name)? {
        Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    })
}

/// Cost in US dollars; the conventions have no name for it, this one is the most common.
pub(crate) fn cost(fields: &Object) -> Option<f64> {
    fields.get("gen_ai.usage.cost").and_then(Value::as_f64).filter(|cost| cost.is_finite() && *cost >= 0.0)
}
