//! What the server waits for, and what it sends.

use std::io::{self, Write};

use lsp_server::{ErrorCode, Message, RequestId, Response};

use super::case_run::Ended;
use super::framing::Received;

/// Something that the server reacts to.
pub(super) enum Event {
    Received(Received),
    /// The input has ended, or cannot be read.
    InputEnded(Option<io::Error>),
    CaseEnded(Ended),
}

/// Sends a message that is JSON already to the client.
pub(super) fn send_text(message: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    write!(out, "Content-Length: {}\r\n\r\n{message}", message.len())?;
    out.flush()
}

pub(super) fn send(message: impl Into<Message>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    message.into().write(&mut out)?;
    out.flush()
}

pub(super) fn notify(method: &str, params: impl serde::Serialize) -> io::Result<()> {
    send(lsp_server::Notification::new(method.to_owned(), params))
}

pub(super) fn log(message: &str) -> io::Result<()> {
    notify("window/logMessage", serde_json::json!({ "type": 4, "message": message }))
}

/// The response to a request that cannot be answered.
pub(super) fn error(id: RequestId, code: ErrorCode, message: impl Into<String>) -> Response {
    Response::new_err(id, code as i32, message.into())
}

pub(super) fn invalid_params(id: RequestId, reason: &serde_json::Error) -> Response {
    error(id, ErrorCode::InvalidParams, reason.to_string())
}
