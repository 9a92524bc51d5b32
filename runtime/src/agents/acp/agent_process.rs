//! The process of an agent: its lines, which are also kept for a file next to the record, and the end of it with everything that it
//! started.

use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use evalsuite_schema::Value;
use evalsuite_schema::json::json;

use crate::platform::clock::Stopwatch;
use crate::platform::process::{
    Captured, Detached, Echo, RunningGroup, capture, end_groups, spawn_sealed, take_captured,
};
use crate::platform::sealed::SealedStart;

/// Bytes of the longest line that is read.
pub(crate) const LINE_LIMIT: usize = 16 << 20;
/// Bytes that wait to be read by the agent, at most.
const UNREAD_LIMIT: usize = 64 << 20;
/// Lines that wait to be handled: an agent that writes faster waits.
const LINES_AHEAD: usize = 4;
/// Time between two looks at an agent that writes nothing.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// Time for the output of a process that was ended.
const OUTPUT_GRACE: Duration = Duration::from_secs(1);

/// What an agent wrote.
#[derive(Debug)]
pub(crate) enum Output {
    /// A line without its line break.
    Line(Vec<u8>),
    /// A line of more than [`LINE_LIMIT`] bytes. Nothing after it is read.
    TooLong,
    /// It has closed its standard output.
    Closed,
    /// Nothing within the time limit.
    Nothing,
}

/// A running agent. It ends, with all processes that it started, when this is dropped.
pub(crate) struct AgentProcess {
    child: Child,
    group: Option<RunningGroup>,
    output: Receiver<Output>,
    /// `None` once its standard input is closed.
    input: Option<Sender<Vec<u8>>>,
    unread: Arc<AtomicUsize>,
    unfinished: Arc<AtomicUsize>,
    errors: Option<Arc<Mutex<Captured>>>,
    errors_read: Receiver<()>,
}

impl AgentProcess {
    pub(crate) fn start(mut command: Command, echo: Echo, seal: Option<&SealedStart>) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (mut child, group) = spawn_sealed(&mut command, echo, Detached::End, seal)?;
        let (unread, unfinished) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let (lines, output) = sync_channel(LINES_AHEAD);
        if let Some(stdout) = child.stdout.take() {
            let unfinished = Arc::clone(&unfinished);
            thread::spawn(move || read_lines(stdout, &lines, &unfinished));
        }
        let (input, messages) = channel();
        if let Some(stdin) = child.stdin.take() {
            let unread = Arc::clone(&unread);
            thread::spawn(move || write_messages(stdin, &messages, &unread));
        }
        let (done, errors_read) = channel();
        let errors = child.stderr.take().map(|stderr| capture(stderr, done));
        let input = Some(input);
        Ok(Self { child, group: Some(group), output, input, unread, unfinished, errors, errors_read })
    }

    /// Sends a line; `false` if the agent has not read too many before. One that does not read any more, or has ended, is not an error
    /// here.
    pub(crate) fn send(&self, line: String) -> bool {
        let Some(input) = &self.input else { return true };
        let bytes = line.len() + 1;
        if self.unread.fetch_add(bytes, Ordering::Relaxed) + bytes > UNREAD_LIMIT {
            return false;
        }
        let _ = input.send((line + "\n").into_bytes());
        true
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits for what the agent writes next. An agent that has ended writes nothing, even if a process that it left behind has its
    /// standard output.
    pub(crate) fn receive(&self, limit: Instant) -> Output {
        let mut has_ended = false;
        loop {
            let left = limit.saturating_duration_since(Instant::now());
            let pause = if has_ended { OUTPUT_GRACE } else { LOOK_AGAIN };
            match self.output.recv_timeout(left.min(pause)) {
                Ok(output) => return output,
                Err(RecvTimeoutError::Disconnected) => return Output::Closed,
                Err(RecvTimeoutError::Timeout) if has_ended => return Output::Closed,
                Err(RecvTimeoutError::Timeout) if left <= pause => return Output::Nothing,
                Err(RecvTimeoutError::Timeout) => {
                    has_ended = self.group.as_ref().is_none_or(RunningGroup::leader_ended);
                }
            }
        }
    }

    /// What the agent has already written.
    pub(crate) fn receive_ready(&self) -> Output {
        self.output.try_recv().unwrap_or(Output::Nothing)
    }

    /// Bytes of a line that has no line break yet.
    pub(crate) fn unfinished(&self) -> usize {
        self.unfinished.load(Ordering::Relaxed)
    }

    /// Whether the process has ended by itself, within `limit`.
    pub(crate) fn ends_within(&mut self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        loop {
            match self.group.as_ref() {
                // It is not reaped: its id stays that of its group.
                Some(group) if !group.leader_ended() => {}
                _ => return true,
            }
            if Instant::now() >= end {
                return false;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends it with everything that it started, after `grace` by force.
    pub(crate) fn end(&mut self, grace: Duration) -> io::Result<ExitStatus> {
        self.input = None;
        if let Some(group) = self.group.take() {
            end_groups(vec![group], grace);
        }
        self.child.wait()
    }

    /// What it has written to its standard error since this was asked before. `has_ended`: it is read to its end.
    pub(crate) fn take_errors(&mut self, has_ended: bool) -> Captured {
        let is_whole = has_ended && self.errors_read.recv_timeout(OUTPUT_GRACE) != Err(RecvTimeoutError::Timeout);
        take_captured(self.errors.clone(), !is_whole)
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        // Without its group, it has been waited for.
        if self.group.is_some() {
            let _ = self.end(Duration::ZERO);
        }
    }
}

fn read_lines(mut stdout: ChildStdout, lines: &SyncSender<Output>, unfinished: &AtomicUsize) {
    let (mut line, mut buffer) = (Vec::new(), vec![0; 64 * 1024]);
    loop {
        let mut rest = match stdout.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => &buffer[..count],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            line.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            unfinished.store(0, Ordering::Relaxed);
            if line.len() > LINE_LIMIT || lines.send(Output::Line(std::mem::take(&mut line))).is_err() {
                let _ = lines.send(Output::TooLong);
                return;
            }
        }
        line.extend_from_slice(rest);
        unfinished.store(line.len(), Ordering::Relaxed);
        if line.len() > LINE_LIMIT {
            let _ = lines.send(Output::TooLong);
            return;
        }
    }
    if !line.is_empty() {
        let _ = lines.send(Output::Line(line));
    }
}

fn write_messages(mut stdin: ChildStdin, messages: &Receiver<Vec<u8>>, unread: &AtomicUsize) {
    for message in messages {
        // An agent that has ended, or closed its standard input, reads nothing.
        if stdin.write_all(&message).and_then(|()| stdin.flush()).is_err() {
            return;
        }
        unread.fetch_sub(message.len(), Ordering::Relaxed);
    }
}

/// Bytes of messages that are kept.
const LIMIT: usize = 16 << 20;

/// The messages of a turn, one JSON object a line.
pub(crate) struct WireLog {
    began: Stopwatch,
    text: String,
    pub(crate) is_cut: bool,
}

impl WireLog {
    pub(crate) fn new() -> Self {
        Self { began: Stopwatch::start(), text: String::new(), is_cut: false }
    }

    pub(crate) fn sent(&mut self, message: &str) {
        self.add("sent", message);
    }

    pub(crate) fn received(&mut self, line: &[u8]) {
        self.add("received", String::from_utf8_lossy(line).trim());
    }

    /// A message stays as it was written; a line that is none is a text.
    fn add(&mut self, direction: &str, message: &str) {
        let at_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        if self.text.len() + message.len() > LIMIT {
            self.is_cut = true;
            return;
        }
        let is_message = message.starts_with('{')
            && !message.contains('\n')
            && evalsuite_schema::json::from_str::<Value>(message).is_ok();
        match is_message {
            true => self.text.push_str(&format!("{{\"at_ms\":{at_ms},\"{direction}\":{message}}}\n")),
            false => self.text.push_str(&format!("{}\n", json!({"at_ms": at_ms, direction: message}))),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}
