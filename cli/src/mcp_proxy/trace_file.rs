//! The trace of one proxy, which is written line by line.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use evalsuite::tooling::{TRACES, TraceEvent, TraceLine};
use evalsuite_schema::json::to_string;

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
