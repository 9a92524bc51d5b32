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

/// Messages to the client.
pub(super) struct Output;

impl Output {
    /// Sends a message that is JSON already.
    pub(super) fn send_text(&mut self, message: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        write!(out, "Content-Length: {}\r\n\r\n{message}", message.len())?;
        out.flush()
    }

    pub(super) fn send(&mut self, message: impl Into<Message>) -> io::Result<()> {
        let mut out = io::stdout().lock();
        message.into().write(&mut out)?;
        out.flush()
    }

    pub(super) fn notify(&mut self, method: &str, params: impl serde::Serialize) -> io::Result<()> {
        self.send(lsp_server::Notification::new(method.to_owned(), params))
    }
}

/// The response to a request that cannot be answered.
pub(super) fn error(id: RequestId, code: ErrorCode, message: impl Into<String>) -> Response {
    Response::new_err(id, code as i32, message.into())
}

pub(super) fn invalid_params(id: RequestId, reason: &serde_json::Error) -> Response {
    error(id, ErrorCode::InvalidParams, reason.to_string())
}
