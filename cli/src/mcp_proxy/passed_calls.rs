//! Messages on their way through a proxy with faults: each line is read, and calls with a fault do not arrive as they were sent.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex, PoisonError};

use evalsuite::tooling::{JsonRpc, Sender, TraceEvent, TracedMessage};
use evalsuite_schema::Value;
use evalsuite_schema::json::from_slice;

use super::faults::{CallFault, Faults};
use super::garbled_result::garbled;
use super::outbox::Outbox;
use super::passed_lines::{ArrivingLine, each_line};

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
