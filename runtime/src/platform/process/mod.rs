//! Programs with a time limit and a limit of captured output, which do not outlive this process.
//!
//! Hand-written: crates for process groups such as `command-group` end a group when asked, but not when this process is killed.

pub(crate) mod echo;
#[cfg(unix)]
pub(crate) mod watchdog;

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use self::echo::Echo;
use crate::platform::redaction::all_secrets;

/// Bytes captured of each output stream; the rest is read and dropped.
const CAPTURE_LIMIT: usize = 10 * 1024 * 1024;
/// Time between SIGTERM and SIGKILL for a process group.
pub(crate) const TERMINATION_GRACE: Duration = Duration::from_secs(2);
/// Time for which output is read after the program has ended, while a process it started holds the pipe.
const OUTPUT_GRACE: Duration = Duration::from_secs(1);

/// How a program ended and what it printed.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) timed_out: bool,
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
}

impl Finished {
    /// The signal that ended the program.
    #[cfg(unix)]
    pub(crate) fn signal(&self) -> Option<i32> {
        std::os::unix::process::ExitStatusExt::signal(&self.status)
    }

    /// This system has no signals.
    #[cfg(not(unix))]
    pub(crate) fn signal(&self) -> Option<i32> {
        None
    }
}

/// The beginning of an output stream.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    pub(crate) bytes: Vec<u8>,
    pub(crate) truncated: bool,
}

impl Captured {
    /// The text, with replacement characters where it is not UTF-8.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// Runs a program with `input` on its standard input and ends its whole process group after `limit`.
///
/// # Errors
///
/// If the program cannot be started or waited for.
pub(crate) fn run(mut command: Command, input: Vec<u8>, limit: Duration, echo: Echo) -> io::Result<Finished> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = Instant::now();
    let (mut child, group) = spawn(&mut command, echo)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input is not an error.
        thread::spawn(move || stdin.write_all(&input));
    }
    let (done, readers) = channel();
    let stdout = child.stdout.take().map(|stream| collect(stream, done.clone()));
    let stderr = child.stderr.take().map(|stream| collect(stream, done));

    let timed_out = !wait(&mut child, limit.saturating_sub(started.elapsed()))?;
    if timed_out {
        signal_group(child.id(), End::Ask);
        wait(&mut child, TERMINATION_GRACE)?;
    } else {
        drain(&readers, OUTPUT_GRACE);
    }
    // Ends the processes that the program left behind. It is not reaped before, so its id is still that of its group.
    drop(group);
    let status = child.wait()?;
    drain(&readers, OUTPUT_GRACE);
    Ok(Finished { status, timed_out, stdout: take(stdout), stderr: take(stderr) })
}

/// Starts a program as the leader of a new process group. Every program of a trial starts here.
///
/// # Errors
///
/// If it cannot be started.
pub(crate) fn spawn(command: &mut Command, echo: Echo) -> io::Result<(Child, RunningGroup)> {
    own_group(command);
    echo.show(command);
    #[cfg(unix)]
    let starting = watchdog::Starting::new(command);
    match command.spawn() {
        Ok(child) => {
            let group = RunningGroup {
                id: child.id(),
                is_over: false,
                #[cfg(unix)]
                _watched: starting.started(child.id()),
            };
            Ok((child, group))
        }
        Err(error) => {
            #[cfg(unix)]
            starting.failed();
            Err(error)
        }
    }
}

/// Makes the program the leader of a new process group.
fn own_group(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(windows)]
    std::os::windows::process::CommandExt::creation_flags(command, 0x0000_0200); // CREATE_NEW_PROCESS_GROUP
}

/// A process group that was started here. It is ended when this is dropped, or when this process dies, however that happens.
///
/// Its leader must not be reaped before: its id could then be that of another group.
#[derive(Debug)]
pub(crate) struct RunningGroup {
    id: u32,
    is_over: bool,
    #[cfg(unix)]
    _watched: watchdog::Watched,
}

impl RunningGroup {
    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Whether a process of it exists, including one that has ended and was not waited for.
    pub(crate) fn exists(&self) -> bool {
        cfg!(unix) && group_exists(self.id)
    }

    /// Does not end a group that has already ended.
    pub(crate) fn forget(mut self) {
        self.is_over = true;
    }
}

impl Drop for RunningGroup {
    fn drop(&mut self) {
        if !self.is_over {
            signal_group(self.id, End::Force);
        }
    }
}

/// Asks process groups to end (SIGTERM), and ends them after `grace`.
pub(crate) fn end_groups(groups: Vec<RunningGroup>, grace: Duration) {
    if !grace.is_zero() {
        groups.iter().for_each(|group| signal_group(group.id, End::Ask));
        let mut limit = Instant::now() + grace;
        while Instant::now() < limit && groups.iter().any(|group| cfg!(not(unix)) || group.exists()) {
            // A leader that has ended and was not waited for still exists; the rest of its group gets a moment.
            if groups.iter().all(|group| !group.exists() || leader_ended(group.id)) {
                limit = limit.min(Instant::now() + Duration::from_millis(100));
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

#[derive(Clone, Copy)]
enum End {
    Ask,
    Force,
}

#[cfg(unix)]
fn group(id: u32) -> Option<rustix::process::Pid> {
    i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw)
}

#[cfg(unix)]
fn signal_group(id: u32, end: End) {
    use rustix::process::{Signal, kill_process_group};
    if let Some(group) = group(id) {
        let signal = match end {
            End::Ask => Signal::TERM,
            End::Force => Signal::KILL,
        };
        // An error means that the group has already ended.
        let _ = kill_process_group(group, signal);
    }
}

#[cfg(unix)]
fn group_exists(id: u32) -> bool {
    group(id).is_some_and(|group| rustix::process::test_kill_process_group(group).is_ok())
}

#[cfg(unix)]
fn leader_ended(id: u32) -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    // A process that is not a child of this one has been waited for.
    group(id).is_none_or(|leader| !matches!(waitid(WaitId::Pid(leader), options), Ok(None)))
}

/// `taskkill`, because the standard library has no safe call that ends a tree of processes.
#[cfg(not(unix))]
fn signal_group(id: u32, end: End) {
    if matches!(end, End::Force) {
        let _ = Command::new("taskkill")
            .args(["/T", "/F", "/PID", &id.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}

/// This system has no process groups.
#[cfg(not(unix))]
fn group_exists(_id: u32) -> bool {
    false
}

#[cfg(not(unix))]
fn leader_ended(_id: u32) -> bool {
    false
}

/// Waits until the program has ended, without reaping it; `false` if it has not within `limit`.
#[cfg(unix)]
fn wait(child: &mut Child, limit: Duration) -> io::Result<bool> {
    use std::sync::mpsc::RecvTimeoutError;

    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let Some(pid) = group(child.id()) else {
        return Err(io::Error::other("the process id is out of range"));
    };
    let (sender, ended) = channel();
    thread::spawn(move || {
        let result = loop {
            match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
                Err(rustix::io::Errno::INTR) => {}
                result => break result.map(drop),
            }
        };
        let _ = sender.send(result);
    });
    match ended.recv_timeout(limit) {
        Ok(result) => result.map(|()| true).map_err(Into::into),
        Err(RecvTimeoutError::Timeout) => Ok(false),
        Err(RecvTimeoutError::Disconnected) => Err(io::Error::other("the waiting thread ended")),
    }
}

#[cfg(not(unix))]
fn wait(child: &mut Child, limit: Duration) -> io::Result<bool> {
    let end = Instant::now() + limit;
    loop {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        if Instant::now() >= end {
            return Ok(false);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

fn collect(mut stream: impl Read + Send + 'static, done: Sender<()>) -> Arc<Mutex<Captured>> {
    let captured = Arc::<Mutex<Captured>>::default();
    let target = Arc::clone(&captured);
    thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    let mut captured = target.lock().unwrap_or_else(PoisonError::into_inner);
                    let room = CAPTURE_LIMIT - captured.bytes.len();
                    captured.bytes.extend_from_slice(&buffer[..count.min(room)]);
                    captured.truncated |= count > room;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        let _ = done.send(());
    });
    captured
}

/// Waits until both streams are closed, at most `limit`.
fn drain(readers: &Receiver<()>, limit: Duration) {
    let end = Instant::now() + limit;
    // Ends when both senders are dropped, which happens when both readers have finished.
    while readers.recv_timeout(end.saturating_duration_since(Instant::now())).is_ok() {}
}

fn take(captured: Option<Arc<Mutex<Captured>>>) -> Captured {
    let mut captured = captured
        .map(|captured| std::mem::take(&mut *captured.lock().unwrap_or_else(PoisonError::into_inner)))
        .unwrap_or_default();
    if captured.truncated {
        captured.bytes.truncate(all_secrets().length_without_broken_end(&captured.bytes));
    }
    captured
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn input_output_and_status_pass_through() {
        let finished =
            run(shell("cat; echo problem >&2; exit 3"), b"hello".to_vec(), Duration::from_secs(10), Echo::Off).unwrap();
        assert_eq!((finished.stdout.text().as_str(), finished.stderr.text().as_str()), ("hello", "problem\n"));
        assert_eq!((finished.status.code(), finished.timed_out), (Some(3), false));
    }

    #[test]
    fn a_program_past_its_limit_ends_with_all_it_started() {
        let started = Instant::now();
        let finished =
            run(shell("echo before; sleep 60 & sleep 60"), Vec::new(), Duration::from_millis(200), Echo::Off).unwrap();
        assert!(finished.timed_out);
        assert_eq!(finished.stdout.text(), "before\n");
        assert!(started.elapsed() < Duration::from_secs(10), "took {:?}", started.elapsed());
    }

    #[test]
    fn a_program_that_leaves_others_behind_does_not_hold_up_the_trial() {
        let started = Instant::now();
        let finished = run(shell("sleep 60 & echo done"), Vec::new(), Duration::from_secs(50), Echo::Off).unwrap();
        assert_eq!((finished.stdout.text().as_str(), finished.timed_out), ("done\n", false));
        assert!(started.elapsed() < Duration::from_secs(10), "took {:?}", started.elapsed());
    }

    #[test]
    fn a_flood_of_output_is_cut() {
        let finished =
            run(shell("head -c 12000000 /dev/zero"), Vec::new(), Duration::from_secs(30), Echo::Off).unwrap();
        assert_eq!((finished.stdout.bytes.len(), finished.stdout.truncated), (CAPTURE_LIMIT, true));
    }

    #[test]
    fn input_that_nobody_reads_is_no_error() {
        let finished = run(shell("exit 0"), vec![b'x'; 1_000_000], Duration::from_secs(10), Echo::Off).unwrap();
        assert!(finished.status.success());
    }
}
