//! A line of an agent's output, read as a message of JSON-RPC.

use evalsuite_schema::{Object, Value};

use crate::platform::excerpt::first_chars;

/// Characters of a line that a problem shows.
const SHOWN: usize = 200;

/// A message of an agent.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    Request { id: Value, method: String, params: Value },
    Notification { method: String, params: Value },
    Response { id: Value, result: Result<Value, RpcError> },
}

/// The error of a response.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Value,
}

/// A line that is not a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// It was meant as one: what it said is lost.
    Broken(String),
    /// A line for people, as of a program that logs to its standard output.
    Text(String),
}

impl Incoming {
    /// Reads a line without its line break.
    pub(crate) fn read(line: &[u8]) -> Result<Self, Unreadable> {
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        let unreadable = |problem: &str| {
            let message = format!("{problem}: {}", first_chars(text, SHOWN));
            match text.starts_with(['{', '[']) || text.contains("\"jsonrpc\"") {
                true => Unreadable::Broken(message),
                false => Unreadable::Text(message),
            }
        };
        let strict = std::str::from_utf8(line).map_err(|_| unreadable("it is not UTF-8"))?;
        let value: Value = evalsuite_schema::json::from_str(strict.trim())
            .map_err(|error| unreadable(&format!("it is not JSON ({error})")))?;
        let Value::Object(mut object) = value else { return Err(unreadable("it is JSON, but not an object")) };
        Self::of(&mut object).map_err(unreadable)
    }

    fn of(object: &mut Object) -> Result<Self, &'static str> {
        let mut take = |key: &str| object.get_mut(key).map(Value::take);
        let id = take("id");
        if let Some(method) = take("method") {
            let Value::String(method) = method else { return Err("its `method` is not a text") };
            let params = take("params").unwrap_or_default();
            return match id {
                Some(id) if matches!(id, Value::Number(_) | Value::String(_) | Value::Null) => {
                    Ok(Self::Request { id, method, params })
                }
                Some(_) => Err("its `id` is neither a number nor a text"),
                None => Ok(Self::Notification { method, params }),
            };
        }
        let id = id.ok_or("it has neither `method` nor `id`")?;
        match (take("result"), take("error")) {
            (_, Some(error)) if !error.is_null() => {
                let message = error.get("message").and_then(Value::as_str).unwrap_or("an error without a message");
                Ok(Self::Response {
                    id,
                    result: Err(RpcError {
                        code: error.get("code").and_then(Value::as_i64).unwrap_or_default(),
                        message: message.to_owned(),
                        data: error.get("data").cloned().unwrap_or_default(),
                    }),
                })
            }
            (Some(result), _) => Ok(Self::Response { id, result: Ok(result) }),
            (None, _) => Err("it is a response with neither `result` nor `error`"),
        }
    }
}

impl std::fmt::Display for RpcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "error {}: {}", self.code, self.message)?;
        let details = self.data.get("details").unwrap_or(&self.data);
        match details {
            Value::Null => Ok(()),
            Value::String(text) => write!(f, " ({})", first_chars(text, SHOWN)),
            other => write!(f, " ({})", first_chars(&other.to_string(), SHOWN)),
        }
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;

    #[test]
    fn a_message_is_a_request_a_notification_or_a_response() {
        let read = |line: &str| Incoming::read(line.as_bytes()).unwrap();
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","id":"a","method":"m","params":{"x":1}}"#),
            Incoming::Request { id: "a".into(), method: "m".into(), params: json!({"x": 1}) }
        );
        assert_eq!(read(" {\"method\":\"m\"}\r"), Incoming::Notification { method: "m".into(), params: Value::Null });
        assert_eq!(read(r#"{"id":1,"result":null}"#), Incoming::Response { id: json!(1), result: Ok(Value::Null) });
        let Incoming::Response { result: Err(error), .. } =
            read(r#"{"id":1,"error":{"code":-32000,"message":"no","data":{"details":"log in"}}}"#)
        else {
            panic!("expected an error")
        };
        assert_eq!(error.to_string(), "error -32000: no (log in)");
    }

    #[test]
    fn a_broken_message_is_told_from_a_line_for_people() {
        for line in
            [&b"{"[..], b"{\"id\":1", b"[]", b"{}", b"{\"id\":1}", b"{\"id\":{},\"method\":\"m\"}", b"{\"a\":\"\xff\"}"]
        {
            assert!(matches!(Incoming::read(line), Err(Unreadable::Broken(_))), "{line:?}");
        }
        assert!(matches!(Incoming::read(b"log {\"jsonrpc\":\"2.0\"}"), Err(Unreadable::Broken(_))));
        for line in [&b"starting"[..], b"42", b"\"x\"", b"null", b"\xff\xfe"] {
            assert!(matches!(Incoming::read(line), Err(Unreadable::Text(_))), "{line:?}");
        }
    }
}
