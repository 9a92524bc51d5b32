//! Programs with a time limit and a limit of captured output, which do not outlive this process. `EVALSUITE_VERBOSE` shows their command
//! lines.
//!
//! Hand-written for Unix: crates for process groups such as `command-group` end a group when asked, but not when this process is killed. On
//! Windows, a job object does both.

mod group;
#[cfg(unix)]
pub(crate) mod members;
pub(crate) mod test_runner;
#[cfg(all(test, unix))]
mod tests;
#[cfg(unix)]
pub(crate) mod watchdog;
#[cfg(windows)]
mod windows;

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::platform::environment::remove_git_variables;
use crate::platform::notice;
use crate::platform::redaction::{all_secrets, without_secrets};
use crate::platform::sealed::SealedStart;
use crate::platform::shell_quoting::quoted_if_needed;

pub(crate) use self::group::{RunningGroup, end_groups};

/// Bytes captured of each output stream; the rest is read and dropped.
const CAPTURE_LIMIT: usize = 10 * 1024 * 1024;
/// Time between SIGTERM and SIGKILL for a process group.
pub(crate) const TERMINATION_GRACE: Duration = Duration::from_secs(2);
/// Time for which output is read after the program has ended, while a process it started holds the pipe.
const OUTPUT_GRACE: Duration = Duration::from_secs(1);

/// Time between two looks at a program that has not ended.
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// What a shell writes on standard error, after the output of a program that was killed.
const MESSAGES_OF_SHELLS: [&str; 4] = ["Killed\n", "Terminated\n", "Aborted\n", "Segmentation fault\n"];

/// How a program ended and what it printed.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) timed_out: bool,
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
}

impl Finished {
    /// The signal that ended the program, where the system has signals.
    pub(crate) fn signal(&self) -> Option<i32> {
        #[cfg(unix)]
        return std::os::unix::process::ExitStatusExt::signal(&self.status);
        #[cfg(not(unix))]
        return None;
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

/// What happens to processes that leave the process group and the session of the program that started them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detached {
    /// They end with the program's group. Other systems of Unix than Linux and macOS do not find them.
    End,
    /// They keep running, such as a server that a hook starts for all cases. On Windows, so does everything that a program started
    /// which ended by itself.
    Keep,
}

/// Runs a program with `input` on its standard input. Its processes are ended when it ends, and after `limit`.
pub(crate) fn run(command: Command, input: Vec<u8>, limit: Duration, echo: Echo) -> io::Result<Finished> {
    run_watched(command, input, limit, echo, Some(Detached::End), None)
}

/// As [`run`], with a seal if there is one.
pub(crate) fn run_sealed(
    command: Command,
    input: Vec<u8>,
    limit: Duration,
    echo: Echo,
    seal: Option<&SealedStart>,
) -> io::Result<Finished> {
    run_watched(command, input, limit, echo, Some(Detached::End), seal)
}

/// As [`run`], with what becomes of detached processes, and a seal if there is one. A program that is not watched continues to run if this process dies: it changes
/// nothing and ends by itself.
pub(crate) fn run_watched(
    mut command: Command,
    input: Vec<u8>,
    limit: Duration,
    echo: Echo,
    watched: Option<Detached>,
    seal: Option<&SealedStart>,
) -> io::Result<Finished> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = Instant::now();
    let (mut child, mut group) = match watched {
        Some(detached) => spawn_sealed(&mut command, echo, detached, seal)?,
        None => spawn_unwatched(&mut command, echo, seal)?,
    };
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input is not an error.
        thread::spawn(move || stdin.write_all(&input));
    }
    let (done, readers) = channel();
    let stdout = child.stdout.take().map(|stream| capture(stream, done.clone()));
    let stderr = child.stderr.take().map(|stream| capture(stream, done));

    let timed_out = !wait(&mut child, &readers, limit.saturating_sub(started.elapsed()))?;
    let is_whole = !timed_out && drain(&readers, OUTPUT_GRACE);
    if watched == Some(Detached::Keep) && !timed_out {
        group.keep_detached();
    }
    // Ends the processes that the program left behind. It is not reaped before, so its id is still that of its group.
    end_groups(vec![group], if timed_out { TERMINATION_GRACE } else { Duration::ZERO });
    let status = child.wait()?;
    drain(&readers, OUTPUT_GRACE);
    let is_cut = !is_whole || was_killed(status);
    Ok(Finished { status, timed_out, stdout: take_captured(stdout, is_cut), stderr: take_captured(stderr, is_cut) })
}

/// Starts a program as the leader of a new process group. Every program of a trial starts here, without the variables of a git hook.
pub(crate) fn spawn(command: &mut Command, echo: Echo, detached: Detached) -> io::Result<(Child, RunningGroup)> {
    spawn_sealed(command, echo, detached, None)
}

/// As [`spawn`], with a seal if there is one.
pub(crate) fn spawn_sealed(
    command: &mut Command,
    echo: Echo,
    detached: Detached,
    seal: Option<&SealedStart>,
) -> io::Result<(Child, RunningGroup)> {
    #[cfg(unix)]
    let watched = watchdog::Watched::new(command, detached);
    #[cfg(not(unix))]
    let _ = detached;
    let (child, group) = spawn_unwatched(command, echo, seal)?;
    #[cfg(unix)]
    let group = group.watch(watched);
    Ok((child, group))
}

fn spawn_unwatched(command: &mut Command, echo: Echo, seal: Option<&SealedStart>) -> io::Result<(Child, RunningGroup)> {
    own_group(command);
    remove_git_variables(command);
    echo.show(command);
    RunningGroup::of(match seal {
        Some(seal) => seal.spawn(command)?,
        None => command.spawn()?,
    })
}

/// Makes the program the leader of a new process group.
fn own_group(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(windows)]
    std::os::windows::process::CommandExt::creation_flags(command, 0x0000_0200); // CREATE_NEW_PROCESS_GROUP
}

/// Waits until the program has ended, without reaping it; `false` if it has not within `limit`. `readers` is closed with the output of
/// the program, mostly because it ends.
fn wait(child: &mut Child, readers: &Receiver<()>, limit: Duration) -> io::Result<bool> {
    let (started, mut pause) = (Instant::now(), Duration::from_millis(1));
    while !has_ended(child)? {
        let left = limit.saturating_sub(started.elapsed());
        if left.is_zero() {
            return Ok(false);
        }
        if readers.recv_timeout(left.min(LONGEST_PAUSE)) == Err(RecvTimeoutError::Disconnected) {
            thread::sleep(pause);
            pause = LONGEST_PAUSE.min(2 * pause);
        }
    }
    Ok(true)
}

fn has_ended(child: &mut Child) -> io::Result<bool> {
    #[cfg(unix)]
    return Ok(self::group::leader_ended(child.id()));
    #[cfg(not(unix))]
    return Ok(child.try_wait()?.is_some());
}

/// Captures a stream on a thread of its own, which says when the stream is closed.
pub(crate) fn capture(mut stream: impl Read + Send + 'static, done: Sender<()>) -> Arc<Mutex<Captured>> {
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

/// Waits until both streams are closed, at most `limit`; `false` if they are not.
fn drain(readers: &Receiver<()>, limit: Duration) -> bool {
    let end = Instant::now() + limit;
    loop {
        match readers.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(()) => {}
            // Both senders are dropped, which happens when both readers have finished.
            Err(RecvTimeoutError::Disconnected) => return true,
            Err(RecvTimeoutError::Timeout) => return false,
        }
    }
}

/// Whether a program, or one that its shell ran, was ended while it may have been writing. Shells add 128 to the signal.
fn was_killed(status: ExitStatus) -> bool {
    status.code().is_none_or(|code| code > 128)
}

/// What was captured, without the beginning of a secret at the end of a stream that is cut.
pub(crate) fn take_captured(captured: Option<Arc<Mutex<Captured>>>, is_cut: bool) -> Captured {
    let mut captured = captured
        .map(|captured| std::mem::take(&mut *captured.lock().unwrap_or_else(PoisonError::into_inner)))
        .unwrap_or_default();
    if captured.truncated || is_cut {
        let bytes = &mut captured.bytes;
        let message = MESSAGES_OF_SHELLS.into_iter().find(|message| bytes.ends_with(message.as_bytes())).unwrap_or("");
        let end = bytes.len() - message.len();
        let whole = all_secrets().length_without_broken_end(&bytes[..end]);
        bytes.drain(whole..end);
    }
    captured
}

/// Whether programs are shown on standard error when they start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Echo {
    #[default]
    Off,
    On,
}

impl Echo {
    /// Writes a line.
    pub(crate) fn say(self, text: impl FnOnce() -> String) {
        if self == Self::On {
            notice::say(&text());
        }
    }

    /// Shows the command line and the working directory.
    pub(crate) fn show(self, command: &Command) {
        self.say(|| {
            let words = std::iter::once(command.get_program()).chain(command.get_args());
            let line: Vec<String> =
                words.map(|word| quoted_if_needed(&without_secrets(&word.to_string_lossy()))).collect();
            let directory = command.get_current_dir().map(|directory| format!("  (in {})", directory.display()));
            format!("$ {}{}", line.join(" "), directory.unwrap_or_default())
        });
    }
}
