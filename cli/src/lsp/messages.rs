//! What the server waits for, and what it sends: messages of the client, and to it.
//!
//! The reader of `lsp-server` allocates what a header asks for and ends at the first message that is not JSON-RPC.

use std::io::{self, BufRead, Read, Write};

use lsp_server::{ErrorCode, Message, RequestId, Response};

use super::case_run::Ended;

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

/// Bytes of one message, at most: twice the largest file, whose text may be escaped.
const MAX_BYTES: u64 = 64 << 20;

/// Bytes of one line of a header, at most.
const MAX_HEADER: u64 = 4096;

/// What the client has sent; `Err` says what is wrong with something that is not a message of JSON-RPC. The next message can be read.
pub(super) type Received = Result<Message, String>;

/// Reads the next message; `None` at the end of the input.
pub(super) fn read(input: &mut impl BufRead) -> io::Result<Option<Received>> {
    let Some(length) = content_length(input)? else { return Ok(None) };
    if length > MAX_BYTES {
        let skipped = io::copy(&mut input.take(length), &mut io::sink())?;
        let message = format!("a message of {length} bytes, more than {MAX_BYTES}");
        return Ok((skipped == length).then_some(Err(message)));
    }
    let mut bytes = Vec::new();
    input.take(length).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(&bytes).map_err(|error| error.to_string())))
}

fn content_length(input: &mut impl BufRead) -> io::Result<Option<u64>> {
    let invalid =
        |text: &str| io::Error::new(io::ErrorKind::InvalidData, format!("not a header of a message: {text:?}"));
    let mut length = None;
    loop {
        let mut line = Vec::new();
        input.take(MAX_HEADER).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&line);
        let Some(text) = text.strip_suffix('\n').map(|text| text.trim_end_matches('\r')) else {
            return Err(invalid(&text));
        };
        if text.is_empty() {
            return length.map(Some).ok_or_else(|| invalid("no Content-Length"));
        }
        let (name, value) = text.split_once(':').ok_or_else(|| invalid(text))?;
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(value.trim().parse().map_err(|_| invalid(text))?);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut input: &[u8]) -> (Vec<String>, bool) {
        let mut seen = Vec::new();
        loop {
            match read(&mut input) {
                Ok(Some(Ok(Message::Request(request)))) => seen.push(request.method),
                Ok(Some(Ok(_))) => seen.push("other".to_owned()),
                Ok(Some(Err(_))) => seen.push("invalid".to_owned()),
                Ok(None) => return (seen, true),
                Err(_) => return (seen, false),
            }
        }
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn what_is_not_json_rpc_is_skipped() {
        let input = ["{", "[]", "{\"id\":1}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}"].map(framed).concat();
        assert_eq!(all(input.as_bytes()).0, ["invalid", "invalid", "invalid", "a"]);
        let invalid_utf8 = b"Content-Length: 2\r\nContent-Type: x\r\n\r\n\xff\xff";
        assert_eq!(all(invalid_utf8), (vec!["invalid".to_owned()], true));
    }

    #[test]
    fn headers_without_a_length_end_the_input() {
        for input in ["\r\n", "Content-Length: x\r\n\r\n", "Content-Length: -1\r\n\r\n", "Content-Length 5\r\n\r\n{}"] {
            assert_eq!(all(input.as_bytes()), (Vec::new(), false), "{input:?}");
        }
        assert_eq!(all(&vec![b'x'; 1 << 20]), (Vec::new(), false), "an endless header");
        assert_eq!(all(b"Content-Length: 18446744073709551615\r\n\r\n{}"), (Vec::new(), true), "nothing is allocated");
        assert_eq!(all(b"Content-Length: 99\r\n\r\n{}"), (Vec::new(), true), "torn");
    }
}
