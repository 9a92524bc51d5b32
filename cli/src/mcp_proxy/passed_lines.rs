//! Lines on their way through the proxy: traced as whole lines, and passed on as they arrive. With faults, each line is read, and calls
//! with a fault do not arrive as they were sent.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, Write, stdout};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use evalsuite::tooling::{JsonRpc, Sender, TRACES, TraceEvent, TraceLine, TracedMessage};
use evalsuite_schema::Value;
use evalsuite_schema::json::{from_slice, to_string};

use super::faults::{CallFault, Faults, garbled};

/// Longest line that is traced completely, in bytes.
const LONGEST_LINE: usize = 8 << 20;

/// The line that is arriving.
#[derive(Debug)]
pub(super) struct ArrivingLine {
    from: Sender,
    /// Its beginning.
    kept: Vec<u8>,
    length: u64,
}

impl ArrivingLine {
    pub(super) fn of(from: Sender) -> Self {
        Self { from, kept: Vec::new(), length: 0 }
    }

    /// Adds bytes without a line break.
    fn add(&mut self, bytes: &[u8]) {
        let room = LONGEST_LINE - self.kept.len();
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.length += bytes.len() as u64;
    }

    /// Ends the line.
    fn take(&mut self) -> TracedMessage {
        let line = self.kept.strip_suffix(b"\r").unwrap_or(&self.kept);
        let mut message = TracedMessage::new(self.from, line);
        if self.length > self.kept.len() as u64 {
            message.cut = Some(self.length);
        }
        (self.kept, self.length) = (Vec::new(), 0);
        message
    }

    /// Traces the lines that end in a chunk.
    pub(super) fn trace(&mut self, chunk: &[u8], trace: &TraceFile) {
        let mut ended = Vec::new();
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            match piece.strip_suffix(b"\n") {
                Some(end) => {
                    self.add(end);
                    ended.push(TraceEvent::Message(self.take()));
                }
                None => self.add(piece),
            }
        }
        if !ended.is_empty() {
            trace.write_all(ended);
        }
    }

    /// Traces what came after the last line break.
    pub(super) fn end(mut self, trace: &TraceFile) {
        if self.length > 0 {
            trace.write(TraceEvent::Message(TracedMessage { unfinished: true, ..self.take() }));
        }
    }
}

/// Passes everything on until the sender leaves, in the chunks in which it arrives. A message is traced before its end is passed on. The error
/// is that of the receiver.
pub(super) fn pass_on(
    mut from: impl BufRead,
    sender: Sender,
    trace: &TraceFile,
    mut to: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut line = ArrivingLine::of(sender);
    while let Some(chunk) = next_chunk(&mut from) {
        line.trace(chunk, trace);
        to(chunk)?;
        let length = chunk.len();
        from.consume(length);
    }
    line.end(trace);
    Ok(())
}

/// Reads whole lines, and calls `with` for each, with its line break. A line that is too long, or has no end, is passed to `without` in parts.
pub(super) fn each_line(
    mut from: impl BufRead,
    mut with: impl FnMut(&[u8]) -> io::Result<()>,
    mut without: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut line = Vec::new();
    let mut is_long = false;
    while let Some(chunk) = next_chunk(&mut from) {
        let length = chunk.len();
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            let is_end = piece.ends_with(b"\n");
            if is_long {
                without(piece)?;
                is_long = !is_end;
                continue;
            }
            line.extend_from_slice(piece);
            if is_end {
                with(&line)?;
                line.clear();
            } else if line.len() > LONGEST_LINE {
                without(&line)?;
                line.clear();
                is_long = true;
            }
        }
        from.consume(length);
    }
    if line.is_empty() { Ok(()) } else { without(&line) }
}

/// The next bytes; `None` at the end. A sender that cannot be read has left.
fn next_chunk(from: &mut impl BufRead) -> Option<&[u8]> {
    loop {
        match from.fill_buf() {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    // The buffer is full, so this reads nothing.
    from.fill_buf().ok().filter(|chunk| !chunk.is_empty())
}

/// The calls of a server, of which some have faults.
pub(super) struct FaultyCalls {
    faults: Faults,
    outbox: Arc<Outbox>,
    /// Calls whose answer is still to be damaged or delayed, by id.
    pending: Mutex<BTreeMap<String, CallFault>>,
}

impl FaultyCalls {
    pub(super) fn new(faults: Faults, outbox: Arc<Outbox>) -> Self {
        Self { faults, outbox, pending: Mutex::default() }
    }

    /// Passes on what the agent sends.
    pub(super) fn pass_to_server(&self, from: impl BufRead, to: &Mutex<impl Write>) -> io::Result<()> {
        let send = |bytes: &[u8]| {
            let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
            to.write_all(bytes)?;
            to.flush()
        };
        self.pass(from, Sender::Client, |line| self.to_server(line, &send), send)
    }

    /// Passes on what the server sends.
    pub(super) fn pass_to_agent(&self, from: impl BufRead) -> io::Result<()> {
        self.pass(from, Sender::Server, |line| self.to_agent(line), |bytes| self.outbox.send(bytes))
    }

    fn pass(
        &self,
        from: impl BufRead,
        sender: Sender,
        mut read: impl FnMut(&[u8]) -> io::Result<()>,
        send: impl Fn(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let trace = &self.outbox.trace;
        let mut unread = ArrivingLine::of(sender);
        let with = |line: &[u8]| {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            trace.write(TraceEvent::Message(TracedMessage::new(sender, text.strip_suffix(b"\r").unwrap_or(text))));
            read(line)
        };
        let without = |bytes: &[u8]| {
            unread.trace(bytes, trace);
            send(bytes)
        };
        let passed = each_line(from, with, without);
        unread.end(trace);
        passed
    }

    fn to_server(&self, line: &[u8], send: &impl Fn(&[u8]) -> io::Result<()>) -> io::Result<()> {
        match from_slice(line) {
            Ok(Value::Array(batch)) => {
                let mut made = Vec::new();
                for message in &batch {
                    if self.is_made(message)? {
                        made.push(message.clone());
                    }
                }
                match made.len() {
                    all if all == batch.len() => send(line),
                    0 => Ok(()),
                    _ => send((Value::Array(made).to_string() + "\n").as_bytes()),
                }
            }
            Ok(message) if !self.is_made(&message)? => Ok(()),
            _ => send(line),
        }
    }

    /// Whether the server gets a message.
    fn is_made(&self, message: &Value) -> io::Result<bool> {
        let Some(JsonRpc::Request { id, method, params }) = JsonRpc::of(message) else { return Ok(true) };
        let Some(fault) = self.faults.of_call(&id, &method, params.as_ref())? else { return Ok(true) };
        self.outbox.trace.write(TraceEvent::Fault(fault.record.clone()));
        let is_made = fault.is_made();
        if is_made {
            self.pending.lock().unwrap_or_else(PoisonError::into_inner).insert(id, fault);
        } else if let Some(answer) = message.get("id").and_then(|id| fault.answer(id)) {
            self.outbox.send_after(fault.after, answer.to_string() + "\n")?;
        }
        Ok(is_made)
    }

    fn to_agent(&self, line: &[u8]) -> io::Result<()> {
        if self.pending.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            return self.outbox.send(line);
        }
        match from_slice(line) {
            Ok(Value::Array(batch)) => {
                let mut whole = Vec::new();
                for message in &batch {
                    match self.take(message) {
                        Some(fault) => self.send_late(&fault, message, None)?,
                        None => whole.push(message.clone()),
                    }
                }
                match whole.len() {
                    all if all == batch.len() => self.outbox.send(line),
                    0 => Ok(()),
                    _ => self.outbox.send((Value::Array(whole).to_string() + "\n").as_bytes()),
                }
            }
            Ok(message) => match self.take(&message) {
                Some(fault) => self.send_late(&fault, &message, str::from_utf8(line).ok()),
                None => self.outbox.send(line),
            },
            Err(_) => self.outbox.send(line),
        }
    }

    /// The fault of the call that a message answers.
    fn take(&self, message: &Value) -> Option<CallFault> {
        let Some(JsonRpc::Response { id, .. }) = JsonRpc::of(message) else { return None };
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).remove(&id)
    }

    /// Sends an answer with its fault; `line` is how the server wrote it.
    fn send_late(&self, fault: &CallFault, answer: &Value, line: Option<&str>) -> io::Result<()> {
        let own = || answer.to_string() + "\n";
        let line = match fault.record.fault {
            evalsuite_schema::McpFaultKind::Garbled => garbled(answer.clone()).to_string() + "\n",
            _ => line.map_or_else(own, str::to_owned),
        };
        self.outbox.send_after(fault.after, line)
    }
}

/// The way to the agent.
#[derive(Debug)]
pub(super) struct Outbox {
    pub(super) trace: Arc<TraceFile>,
    /// One message at a time.
    turn: Mutex<()>,
    late: Mutex<Vec<JoinHandle<()>>>,
}

impl Outbox {
    pub(super) fn new(trace: Arc<TraceFile>) -> Self {
        Self { trace, turn: Mutex::default(), late: Mutex::default() }
    }

    /// Sends bytes as they are.
    pub(super) fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// Whether the agent has not read yet what is being sent.
    pub(super) fn is_sending(&self) -> bool {
        matches!(self.turn.try_lock(), Err(TryLockError::WouldBlock))
    }

    /// Sends a message of the proxy.
    pub(super) fn send_message(&self, message: &Value) -> io::Result<()> {
        self.send_own(message.to_string() + "\n")
    }

    fn send_own(&self, line: String) -> io::Result<()> {
        self.trace.write(TraceEvent::Message(TracedMessage::new(Sender::Proxy, line.trim_end().as_bytes())));
        self.send(line.as_bytes())
    }

    /// Sends a line of the proxy after a time, if the agent is still there.
    pub(super) fn send_after(self: &Arc<Self>, after: Duration, line: String) -> io::Result<()> {
        if after.is_zero() {
            return self.send_own(line);
        }
        let outbox = Arc::clone(self);
        let send = move || {
            thread::sleep(after);
            // An agent that has left gets nothing.
            let _ = outbox.send_own(line);
        };
        self.late.lock().unwrap_or_else(PoisonError::into_inner).push(thread::Builder::new().spawn(send)?);
        Ok(())
    }

    /// Waits until everything is sent that is late.
    pub(super) fn wait(&self) {
        let late = std::mem::take(&mut *self.late.lock().unwrap_or_else(PoisonError::into_inner));
        // A thread that panicked has sent nothing.
        late.into_iter().for_each(|thread| drop(thread.join()));
    }
}

/// Largest trace, in bytes.
const LARGEST_TRACE: u64 = 256 << 20;
/// Most proxies of one server in a trial.
const MOST_TRACES: u32 = 100_000;

/// A trace; without a session, nothing is written.
#[derive(Debug)]
pub(super) struct TraceFile(Option<Mutex<OpenTrace>>);

#[derive(Debug)]
struct OpenTrace {
    file: File,
    /// Bytes that were written.
    size: u64,
    is_full: bool,
}

impl TraceFile {
    pub(super) fn none() -> Self {
        Self(None)
    }

    /// Creates the next trace of a server.
    pub(super) fn create(session: &Path, server: &str) -> io::Result<Self> {
        let directory = session.join(TRACES);
        for number in 0..MOST_TRACES {
            let name = format!("{server}.{number:03}.jsonl");
            match OpenOptions::new().append(true).create_new(true).open(directory.join(name)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Ok(file) => return Ok(Self(Some(Mutex::new(OpenTrace { file, size: 0, is_full: false })))),
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other(format!("the agent has started the server `{server}` more than {MOST_TRACES} times")))
    }

    /// Writes a line.
    pub(super) fn write(&self, event: TraceEvent) {
        self.write_all([event]);
    }

    /// Writes several lines at once. If they cannot be written, the proxy ends: calls that cannot be graded must not look as if they had not
    /// been made.
    pub(super) fn write_all(&self, events: impl IntoIterator<Item = TraceEvent>) {
        let Some(trace) = &self.0 else { return };
        let mut trace = trace.lock().unwrap_or_else(PoisonError::into_inner);
        let at_us = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at_us = u64::try_from(at_us.as_micros()).unwrap_or(u64::MAX);
        if let Err(error) = trace.add(at_us, events) {
            eprintln!("error: the trace of the MCP server cannot be written: {error}");
            std::process::exit(2);
        }
    }
}

impl OpenTrace {
    fn add(&mut self, at_us: u64, events: impl IntoIterator<Item = TraceEvent>) -> io::Result<()> {
        let mut lines = Vec::new();
        for event in events {
            if self.is_full {
                break;
            }
            let before = lines.len();
            lines.extend_from_slice(to_string(&TraceLine { at_us, event })?.as_bytes());
            lines.push(b'\n');
            if self.size + lines.len() as u64 > LARGEST_TRACE {
                self.is_full = true;
                lines.truncate(before);
                let lost = TraceEvent::Lost(format!("a trace of an MCP server has more than {LARGEST_TRACE} bytes"));
                lines.extend_from_slice(to_string(&TraceLine { at_us, event: lost })?.as_bytes());
                lines.push(b'\n');
            }
        }
        self.size += lines.len() as u64;
        self.file.write_all(&lines)
    }
}
