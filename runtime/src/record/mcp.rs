//! MCP servers of a trial, as the runtime and the proxy `cargo evalsuite mcp-proxy` share them: the directory of the session that the
//! runtime makes, the traces that proxies write, a line of JSON for each message before it is passed on, and recordings, one file per trial
//! as JSON for version control, from which a replay answers.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use base64::prelude::{BASE64_STANDARD, Engine};
use evalsuite_records::file_replacement::replace_user_text;
use evalsuite_records::package_file::{LARGEST_CASSETTE, read_package_file_if_exists};
use evalsuite_schema::json::{FromJson, FromJsonOverDefault, ToJson, skip_empty};
use evalsuite_schema::{McpFault, McpFaultKind, Value};

use crate::platform::redaction::Redactor;
use crate::workspace::value_placeholders::Placeholders;

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
        (Value::Number(left), Value::Number(right)) => left.is_same(right),
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

/// End of the names of files with recorded servers.
pub(crate) const MCP_FILE: &str = "mcp.json";

/// What the MCP servers of one trial answered.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
pub struct McpRecording {
    /// [`McpRecording::SCHEMA`].
    pub schema: String,
    /// Name of the suite.
    pub suite: String,
    /// Id of the case.
    pub case_id: String,
    /// Name of the target.
    pub target: String,
    /// Index of the trial, from 0.
    pub trial: u32,
    /// The servers, by name.
    pub servers: BTreeMap<String, RecordedServer>,
}

/// What one server answered.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
pub struct RecordedServer {
    /// Requests of the agent with their answers, in the order in which they were made.
    pub exchanges: Vec<RecordedExchange>,
}

/// A request of the agent, and its answer.
#[skip_empty]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
pub struct RecordedExchange {
    /// The method, such as `tools/call`.
    pub method: String,
    /// The parameters, without `_meta`.
    pub params: Option<Value>,
    /// The result; without a result and an error, the request was not answered.
    pub result: Option<Value>,
    /// The error of the protocol.
    pub error: Option<Value>,
    /// Notifications of the server between the request and the next one, except for those after the answer; those of progress without their
    /// token.
    pub notifications: Vec<Value>,
    /// Notifications after the answer.
    pub then: Vec<Value>,
}

impl McpRecording {
    /// Name and version of the format.
    pub const SCHEMA: &'static str = "evalsuite.mcp_calls/1";

    /// Reads a recording, with the values of this machine for placeholders; `None` if there is no file.
    pub(crate) fn read(path: &Path, placeholders: &Placeholders) -> io::Result<Option<Self>> {
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, format!("{}{what}", path.display()));
        let Some(bytes) = read_package_file_if_exists(path, LARGEST_CASSETTE)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?
        else {
            return Ok(None);
        };
        let recording: Self = placeholders
            .decode(&bytes)
            .map_err(|error| invalid(format!(" is not a recording of MCP servers: {error}")))?;
        if recording.schema != Self::SCHEMA {
            return Err(invalid(format!(": `schema` is {}, not {}", recording.schema, Self::SCHEMA)));
        }
        Ok(Some(recording))
    }

    /// Writes it as a file of the user, without secrets. Readers see the old file or the new one.
    pub(crate) fn write(&self, path: &Path, placeholders: &Placeholders) -> io::Result<()> {
        let hidden: Value = evalsuite_schema::json::from_str(&placeholders.hide_in(self)?)?;
        let json = Redactor::default().to_pretty_json(&hidden)? + "\n";
        if json.len() as u64 > LARGEST_CASSETTE {
            let message = format!("it would have more than {LARGEST_CASSETTE} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        replace_user_text(path, &json)
    }
}

/// Name of the file that says what proxies do.
pub(crate) const SESSION: &str = "session.json";
/// Name of the file that the agent reads, `{"mcpServers": …}`.
pub(crate) const CONFIG: &str = "config.json";
/// Name of the recording from which proxies answer in a replay, with the paths of this trial.
pub const RECORDING: &str = "recording.json";
/// Name of the directory in which each proxy writes a trace.
pub const TRACES: &str = "traces";
/// Name of the directory with a file for each recorded answer and each call with a fault that was counted: proxies of one trial share them.
pub const CLAIMS: &str = "claims";

/// What proxies do in a trial.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
pub struct McpSessionFile {
    /// [`McpSessionFile::SCHEMA`].
    pub schema: String,
    /// Whether the recording answers, and no server is started.
    pub replay: bool,
    /// Which calls fail.
    pub faults: Vec<McpFault>,
}

impl McpSessionFile {
    /// Name and version of the format, and of everything else in the directory.
    pub const SCHEMA: &'static str = "evalsuite.mcp_session/1";

    /// Reads the file in a directory.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or belongs to another version of evalsuite.
    pub fn read(directory: &Path) -> io::Result<Self> {
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
        let bytes = fs::read(directory.join(SESSION))?;
        let file: Self = evalsuite_schema::json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?;
        if file.schema != Self::SCHEMA {
            return Err(invalid(format!("`schema` is {}, not {}", file.schema, Self::SCHEMA)));
        }
        Ok(file)
    }
}

/// One line of a trace.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
pub struct TraceLine {
    /// Microseconds since 1970.
    pub at_us: u64,
    /// What happened.
    pub event: TraceEvent,
}

/// What a proxy writes down.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
pub enum TraceEvent {
    /// The proxy has started; the command of the server.
    Started(Vec<String>),
    /// A line was sent.
    Message(TracedMessage),
    /// A fault was injected into a call.
    Fault(InjectedFault),
    /// In a replay: why a request has no answer in the recording.
    Unknown(String),
    /// More was sent than a trace may hold: later messages are not in it.
    Lost(String),
    /// The server has ended, or cannot be started.
    Ended(String),
}

/// Who sent a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToJson, FromJson)]
pub enum Sender {
    /// The agent.
    Client,
    /// The server.
    Server,
    /// The proxy, in place of the server.
    Proxy,
}

/// A line, without its line break.
#[skip_empty(.., unfinished)]
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson)]
pub struct TracedMessage {
    /// Who sent it.
    pub from: Sender,
    /// The line, if it is UTF-8.
    pub text: Option<String>,
    /// The line, if it is not.
    pub base64: Option<String>,
    /// Length of a line that is recorded in part, in bytes.
    pub cut: Option<u64>,
    /// Whether the sender left before the end of the line.
    pub unfinished: bool,
}

/// A call that was made to fail.
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson)]
pub struct InjectedFault {
    /// Id of the request as JSON.
    pub id: String,
    /// Name of the tool.
    pub tool: String,
    /// What was done.
    pub fault: McpFaultKind,
    /// Which of the calls that the fault is for, from 1.
    pub call: u64,
}

impl TracedMessage {
    /// A whole line.
    pub fn new(from: Sender, line: &[u8]) -> Self {
        let text = str::from_utf8(line).ok().map(str::to_owned);
        let base64 = text.is_none().then(|| BASE64_STANDARD.encode(line));
        Self { from, text, base64, cut: None, unfinished: false }
    }
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
