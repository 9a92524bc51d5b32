//! Messages of JSON-RPC, as far as calls are seen in them.

use evalsuite_schema::Value;
use evalsuite_schema::json::Number;

/// A message that is valid JSON-RPC.
#[derive(Debug, Clone, PartialEq)]
pub enum JsonRpc {
    /// It has a method and an id.
    Request {
        /// The id as JSON: `1` and `"1"` are two ids.
        id: String,
        /// The method.
        method: String,
        /// The parameters.
        params: Option<Value>,
    },
    /// It has a method and no id.
    Notification {
        /// The method.
        method: String,
        /// The parameters.
        params: Option<Value>,
    },
    /// It has an id, and a result or an error.
    Response {
        /// The id as JSON.
        id: String,
        /// The result, or the error.
        result: Result<Value, Value>,
    },
}

impl JsonRpc {
    /// Reads a message; `None` if it is none.
    pub fn of(message: &Value) -> Option<Self> {
        let message = message.as_object()?;
        let id = message.get("id").filter(|id| !id.is_null()).map(Value::to_string);
        let params = message.get("params").cloned();
        if let Some(method) = message.get("method") {
            let method = method.as_str()?.to_owned();
            return Some(match id {
                Some(id) => Self::Request { id, method, params },
                None => Self::Notification { method, params },
            });
        }
        let result = match (message.get("result"), message.get("error")) {
            (_, Some(error)) => Err(error.clone()),
            (Some(result), None) => Ok(result.clone()),
            (None, None) => return None,
        };
        Some(Self::Response { id: id?, result })
    }
}

/// The messages in a line: one, or those of a batch. `None` if the line is not JSON-RPC.
pub fn messages_of_line(line: &[u8]) -> Option<Vec<JsonRpc>> {
    match evalsuite_schema::json::from_slice(line).ok()? {
        Value::Array(batch) => batch.iter().map(JsonRpc::of).collect(),
        message => Some(vec![JsonRpc::of(&message)?]),
    }
}

/// Whether two values are the same JSON: the order of keys does not matter, and numbers are compared by value.
pub fn same_json(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => same_number(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same_json(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let is_same = |(key, left): (&String, &Value)| right.get(key).is_some_and(|right| same_json(left, right));
            left.len() == right.len() && left.iter().all(is_same)
        }
        _ => left == right,
    }
}

#[allow(clippy::float_cmp, reason = "`1` and `1.0` are one number, nothing else is")]
fn same_number(left: &Number, right: &Number) -> bool {
    left == right || (left.is_f64() || right.is_f64()) && left.as_f64() == right.as_f64()
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;

    #[test]
    fn a_line_has_one_message_or_a_batch() {
        let request = JsonRpc::Request { id: "\"1\"".into(), method: "ping".into(), params: None };
        assert_eq!(messages_of_line(br#"{"jsonrpc":"2.0","id":"1","method":"ping"}"#), Some(vec![request.clone()]));
        let notified = JsonRpc::Notification { method: "x".into(), params: Some(json!({"a": 1})) };
        let batch = br#"[{"id":"1","method":"ping"},{"method":"x","params":{"a":1}}]"#;
        assert_eq!(messages_of_line(batch), Some(vec![request, notified]));
        let failed = JsonRpc::Response { id: "7".into(), result: Err(json!({"code": -1})) };
        assert_eq!(messages_of_line(br#"{"id":7,"error":{"code":-1}}"#), Some(vec![failed]));
        for other in ["", "{", "7", "{}", r#"{"id":1}"#, r#"{"method":7}"#, r#"{"result":{}}"#, "[{}]"] {
            assert_eq!(messages_of_line(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn json_is_compared_by_value() {
        assert!(same_json(&json!({"a": 1, "b": [2.0]}), &json!({"b": [2], "a": 1.0})));
        assert!(!same_json(&json!({"a": null}), &json!({})) && !same_json(&json!([1, 2]), &json!([2, 1])));
    }
}
