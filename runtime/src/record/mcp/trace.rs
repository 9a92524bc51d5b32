//! The trace that a proxy writes: a line of JSON for each message, before the message is passed on.

use base64::prelude::{BASE64_STANDARD, Engine};
use evalsuite_schema::McpFaultKind;
use evalsuite_schema::json::{FromJson, ToJson};

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
#[json(rename_all = "snake_case")]
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
#[json(rename_all = "lowercase")]
pub enum Sender {
    /// The agent.
    Client,
    /// The server.
    Server,
    /// The proxy, in place of the server.
    Proxy,
}

/// A line, without its line break.
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson)]
pub struct TracedMessage {
    /// Who sent it.
    pub from: Sender,
    /// The line, if it is UTF-8.
    #[json(default, skip_if = "Option::is_none")]
    pub text: Option<String>,
    /// The line, if it is not.
    #[json(default, skip_if = "Option::is_none")]
    pub base64: Option<String>,
    /// Length of a line that is recorded in part, in bytes.
    #[json(default, skip_if = "Option::is_none")]
    pub cut: Option<u64>,
    /// Whether the sender left before the end of the line.
    #[json(default, skip_if = "std::ops::Not::not")]
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
