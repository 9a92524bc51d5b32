//! Keys of the replies in a cassette.

use evalsuite_schema::Value;

use crate::platform::digest::{retain_entries, sha256_of_data};
use crate::workspace::value_placeholders::Placeholders;

/// Fields with the time of a request, which differs from run to run.
const TIME_FIELDS: [&str; 6] = ["timestamp", "created_at", "start_time", "end_time", "started_at", "ended_at"];

/// SHA-256 of a request with placeholders for values, independent of the order of keys and of times.
pub(crate) fn request_key(request: &Value, placeholders: &Placeholders) -> String {
    let hidden = placeholders.hide_in(request).and_then(|json| evalsuite_schema::json::from_str(&json));
    let mut counted = hidden.unwrap_or_else(|_| request.clone());
    retain_entries(&mut counted, &|field, value| !is_time(field, value));
    sha256_of_data(&counted)
}

fn is_time(field: &str, value: &Value) -> bool {
    TIME_FIELDS.contains(&field) && (value.is_string() || value.is_number() || value.is_null())
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;

    #[test]
    fn order_and_time_do_not_matter() {
        let key = |request| request_key(&request, &Placeholders::default());
        assert_eq!(
            key(json!({"model": "m", "messages": [{"role": "user", "timestamp": "2026-01-01T00:00:00Z"}]})),
            key(json!({"messages": [{"timestamp": 7, "role": "user"}], "model": "m"})),
        );
        assert_ne!(key(json!({"model": "m"})), key(json!({"model": "n"})));
        assert_ne!(key(json!(["a", "b"])), key(json!(["b", "a"])));
        assert_ne!(key(json!({"timestamp": {"a": 1}})), key(json!({"timestamp": {"a": 2}})), "not a time");
    }
}
