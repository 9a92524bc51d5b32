//! The process of a server: its streams, its end, and the signals that are passed on to it.
//!
//! The server is in the process group of the proxy, so that whatever ends the proxy with its group also ends the server.

use std::ffi::OsString;
use std::io::{self, BufReader, Write, stdin};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use evalsuite::tooling::{Sender as Side, TraceEvent};

use super::faults::Faults;
use super::passed_lines::{FaultyCalls, Outbox, pass_on};
use crate::platform::exit_status::{CliError, CommandStatus, Result};

/// Bytes that are read at once.
const CHUNK: usize = 64 << 10;
/// Time between two looks at the server.
const PAUSE: Duration = Duration::from_millis(5);
/// How long a server may run after the agent has left it. Clients ask it to end earlier.
const AFTER_CLIENT: Duration = Duration::from_secs(5);
/// How long a server may run after it was asked to end. Clients kill it after two seconds.
const AFTER_REQUEST: Duration = Duration::from_millis(1500);
/// How long the output of a server is read after its end, while a process that it started holds the pipe.
const AFTER_SERVER: Duration = Duration::from_secs(1);

/// What happens to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// The agent has left.
    ClientLeft,
    /// The proxy got a signal.
    AskedToEnd,
    /// The server has closed its output.
    OutputEnded,
}

/// Starts a server, and passes everything on until it ends.
pub(super) fn run(command: &[OsString], outbox: Arc<Outbox>, faults: Faults) -> Result<CommandStatus> {
    let Some((program, arguments)) = command.split_first() else { return Err(CliError::new("no command of a server")) };
    let mut child = Command::new(program);
    child.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = child.spawn().map_err(|error| {
        let problem = format!("the MCP server cannot be started: {}: {error}", program.display());
        outbox.trace.write(TraceEvent::Ended(problem.clone()));
        CliError::new(problem)
    })?;
    let (events, happened) = channel();
    report_end_signals(events.clone())?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let faulty = (!faults.are_none()).then(|| Arc::new(FaultyCalls::new(faults, Arc::clone(&outbox))));
    if let Some(input) = input {
        let (outbox, faulty, events) = (Arc::clone(&outbox), faulty.clone(), events.clone());
        thread::Builder::new().spawn(move || to_server(input, &outbox, faulty.as_deref(), &events))?;
    }
    if let Some(output) = output {
        let outbox = Arc::clone(&outbox);
        thread::Builder::new().spawn(move || to_agent(output, &outbox, faulty.as_deref(), &events))?;
    }
    let mut ending = Ending::default();
    let status = loop {
        match happened.recv_timeout(PAUSE) {
            Ok(event) => ending.hear(event, &mut child),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => thread::sleep(PAUSE),
        }
        if let Some(status) = child.try_wait()? {
            break status;
        }
        ending.hurry(&mut child);
    };
    // What it has written still arrives, however long the agent takes to read it, unless the agent has left.
    let mut limit = Instant::now() + AFTER_SERVER;
    while !ending.output_ended && Instant::now() < limit {
        match happened.recv_timeout(PAUSE) {
            Ok(event) => ending.hear(event, &mut child),
            Err(RecvTimeoutError::Timeout) if outbox.is_sending() && !ending.is_expected() => {
                limit = Instant::now() + AFTER_SERVER;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    if !ending.is_expected() {
        outbox.trace.write(TraceEvent::Ended(status.to_string()));
        outbox.wait();
    }
    std::process::exit(code(status));
}

/// Passes on what the agent sends, until one of them leaves.
fn to_server(input: impl Write, outbox: &Outbox, faulty: Option<&FaultyCalls>, events: &Sender<Event>) {
    let from = BufReader::with_capacity(CHUNK, stdin().lock());
    let input = Mutex::new(input);
    // A server that does not read its input is about to end, or the agent leaves; the main thread waits for both.
    let _ = match faulty {
        Some(faulty) => faulty.pass_to_server(from, &input),
        None => pass_on(from, Side::Client, &outbox.trace, |chunk| {
            let mut input = input.lock().unwrap_or_else(PoisonError::into_inner);
            input.write_all(chunk)?;
            input.flush()
        }),
    };
    drop(input);
    let _ = events.send(Event::ClientLeft);
}

/// Passes on what the server sends. It is read to its end also if the agent has left.
fn to_agent(output: impl io::Read, outbox: &Outbox, faulty: Option<&FaultyCalls>, events: &Sender<Event>) {
    let mut from = BufReader::with_capacity(CHUNK, output);
    let passed = match faulty {
        Some(faulty) => faulty.pass_to_agent(&mut from),
        None => pass_on(&mut from, Side::Server, &outbox.trace, |chunk| outbox.send(chunk)),
    };
    if passed.is_err() {
        let _ = events.send(Event::ClientLeft);
        let _ = io::copy(&mut from, &mut io::sink());
    }
    let _ = events.send(Event::OutputEnded);
}

/// Deadlines for ending a server.
#[derive(Debug, Default)]
struct Ending {
    /// When it is asked to end.
    ask_at: Option<Instant>,
    /// When it is killed.
    kill_at: Option<Instant>,
    output_ended: bool,
}

impl Ending {
    fn hear(&mut self, event: Event, server: &mut Child) {
        match event {
            Event::OutputEnded => self.output_ended = true,
            Event::ClientLeft => {
                self.ask_at.get_or_insert_with(|| Instant::now() + AFTER_CLIENT);
            }
            Event::AskedToEnd => self.ask(server),
        }
    }

    /// Whether the agent has left, or asked the server to end.
    fn is_expected(&self) -> bool {
        self.ask_at.is_some() || self.kill_at.is_some()
    }

    fn ask(&mut self, server: &mut Child) {
        if self.kill_at.is_none() {
            ask_to_end(server);
            self.kill_at = Some(Instant::now() + AFTER_REQUEST);
        }
    }

    /// Does what is due.
    fn hurry(&mut self, server: &mut Child) {
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= Instant::now());
        if is_due(self.kill_at) {
            kill(server);
            self.kill_at = Some(Instant::now() + AFTER_CLIENT);
        } else if is_due(self.ask_at) {
            self.ask(server);
        }
    }
}

/// Asks a server to end, as clients do.
fn ask_to_end(server: &mut Child) {
    #[cfg(unix)]
    if let Some(id) = i32::try_from(server.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // An error means that it has ended.
        let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
    }
    #[cfg(not(unix))]
    let _ = server;
}

/// Ends a server. If the proxy leads its process group, the group contains only the server and its processes.
fn kill(server: &mut Child) {
    // An error means that it has ended.
    let _ = server.kill();
    #[cfg(unix)]
    if rustix::process::getpgrp() == rustix::process::getpid() {
        let _ = rustix::process::kill_process_group(rustix::process::getpgrp(), rustix::process::Signal::KILL);
    }
}

/// The exit status of the proxy: that of the server, or as shells write a signal.
fn code(status: ExitStatus) -> i32 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return 128 + signal;
    }
    status.code().unwrap_or(1)
}

/// Reports signals until the process ends.
#[cfg(unix)]
fn report_end_signals(events: Sender<Event>) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    std::thread::Builder::new().spawn(move || {
        for _ in signals.forever() {
            if events.send(Event::AskedToEnd).is_err() {
                break;
            }
        }
    })?;
    Ok(())
}

/// On Windows, a client ends the process.
#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "the same signature as on Unix")]
fn report_end_signals(_: Sender<Event>) -> std::io::Result<()> {
    Ok(())
}
