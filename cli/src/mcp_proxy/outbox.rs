//! What the agent gets: bytes of the server, and messages of the proxy itself, which may be late.

use std::io::{self, Write, stdout};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use evalsuite::tooling::{Sender, TraceEvent, TracedMessage};
use evalsuite_schema::Value;

use super::trace_file::TraceFile;

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
