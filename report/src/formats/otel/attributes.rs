//! Attributes in OTLP/JSON.

use evalsuite_records::record::Usage;
use evalsuite_schema::json::{Value, json};

/// The fields of an object as attributes, without those that are `null`. Objects in it are texts of JSON.
pub(super) fn attributes(fields: Value) -> Value {
    let Value::Object(fields) = fields else { return json!([]) };
    let known = fields.into_iter().filter(|(_, value)| !value.is_null());
    known.map(|(key, value)| json!({ "key": key, "value": any_value(value) })).collect()
}

fn any_value(value: Value) -> Value {
    match value {
        Value::String(text) => json!({ "stringValue": text }),
        Value::Bool(value) => json!({ "boolValue": value }),
        // Numbers of 64 bits are texts in OTLP/JSON.
        Value::Number(number) if !number.is_f64() => json!({ "intValue": number.to_string() }),
        Value::Number(number) => json!({ "doubleValue": number }),
        Value::Array(values) => {
            json!({ "arrayValue": { "values": values.into_iter().map(any_value).collect::<Vec<_>>() } })
        }
        other => json!({ "stringValue": other.to_string() }),
    }
}

/// Tokens and cost by the names that spans have for them. Input tokens contain those from a cache.
pub(super) fn add_usage(fields: &mut Value, usage: Option<Usage>, cost_usd: Option<f64>) {
    let input = |usage: Usage| usage.input.saturating_add(usage.cached);
    fields["gen_ai.usage.input_tokens"] = usage.map(input).into();
    fields["gen_ai.usage.output_tokens"] = usage.map(|usage| usage.output).into();
    fields["gen_ai.usage.cache_read.input_tokens"] = usage.map(|usage| usage.cached).into();
    fields["gen_ai.usage.cost"] = cost_usd.into();
}
