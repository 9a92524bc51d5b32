//! Under what name the reply to a request is kept.

use serde_json::Value;

use crate::{platform::digest::sha256, workspace::path_placeholders::Placeholders};

/// Fields that say when something was asked: they differ from run to run.
const TIMES: [&str; 6] = ["timestamp", "created_at", "start_time", "end_time", "started_at", "ended_at"];

/// SHA-256 of the request: the order of keys and the time do not matter, nor does what is written by its name.
pub(crate) fn key(request: &Value, placeholders: &Placeholders) -> String {
    sha256(canonical(placeholders.hide_in(request.clone())).to_string())
}

fn canonical(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(canonical).collect()),
        Value::Object(object) => {
            let mut entries: Vec<(String, Value)> =
                object.into_iter().filter(|(key, value)| !is_time(key, value)).collect();
            entries.sort_by(|left, right| left.0.cmp(&right.0));
            Value::Object(entries.into_iter().map(|(key, value)| (key, canonical(value))).collect())
        }
        other => other,
    }
}

fn is_time(key: &str, value: &Value) -> bool {
    TIMES.contains(&key) && (value.is_string() || value.is_number() || value.is_null())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn order_and_time_do_not_matter() {
        let key = |request| key(&request, &Placeholders::default());
        assert_eq!(
            key(json!({"model": "m", "messages": [{"role": "user", "timestamp": "2026-01-01T00:00:00Z"}]})),
            key(json!({"messages": [{"timestamp": 7, "role": "user"}], "model": "m"})),
        );
        assert_ne!(key(json!({"model": "m"})), key(json!({"model": "n"})));
        assert_ne!(key(json!(["a", "b"])), key(json!(["b", "a"])));
        assert_ne!(key(json!({"timestamp": {"a": 1}})), key(json!({"timestamp": {"a": 2}})), "not a time");
    }
}
