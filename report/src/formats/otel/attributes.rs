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
pub(super) fn usage(usage: Option<Usage>, cost_usd: Option<f64>) -> Vec<(&'static str, Value)> {
    let mut fields = Vec::new();
    if let Some(usage) = usage {
        fields.push(("gen_ai.usage.input_tokens", usage.input.saturating_add(usage.cached).into()));
        fields.push(("gen_ai.usage.output_tokens", usage.output.into()));
        fields.push(("gen_ai.usage.cache_read.input_tokens", usage.cached.into()));
    }
    if let Some(cost) = cost_usd {
        fields.push(("gen_ai.usage.cost", cost.into()));
    }
    fields
}
