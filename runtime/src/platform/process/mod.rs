//! Programs with a time limit and a limit of captured output, which do not outlive this process.
//!
//! Hand-written: crates for process groups such as `command-group` end a group when asked, but not when this process is killed.

pub(crate) mod echo;
#[cfg(target_os = "linux")]
pub(crate) mod members;
#[cfg(unix)]
pub(crate) mod test_runner;
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

/// What happens to processes that leave the process group and the session of the program that started them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detached {
    /// They end with the program's group. They are found on Linux.
    End,
    /// They go on, as a server does that a hook starts for all cases.
    Keep,
}

/// Runs a program with `input` on its standard input. Its processes are ended when it ends, and after `limit`.
///
/// # Errors
///
/// If the program cannot be started or waited for.
pub(crate) fn run(command: Command, input: Vec<u8>, limit: Duration, echo: Echo) -> io::Result<Finished> {
    run_as(command, input, limit, echo, Some(Detached::End))
}

/// Runs a program that changes nothing and ends by itself, as [`run`]. If this process dies, it continues to run.
///
/// # Errors
///
/// As for [`run`].
pub(crate) fn run_unwatched(command: Command, limit: Duration, echo: Echo) -> io::Result<Finished> {
    run_as(command, Vec::new(), limit, echo, None)
}

/// As [`run`], where the program may leave detached processes behind.
///
/// # Errors
///
/// As for [`run`].
pub(crate) fn run_with(
    command: Command,
    input: Vec<u8>,
    limit: Duration,
    echo: Echo,
    detached: Detached,
) -> io::Result<Finished> {
    run_as(command, input, limit, echo, Some(detached))
}

/// Runs a program; `None`: unwatched.
fn run_as(
    mut command: Command,
    input: Vec<u8>,
    limit: Duration,
    echo: Echo,
    watched: Option<Detached>,
) -> io::Result<Finished> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = Instant::now();
    let (mut child, group) = match watched {
        Some(detached) => spawn(&mut command, echo, detached)?,
        None => spawn_unwatched(&mut command, echo)?,
    };
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input is not an error.
        thread::spawn(move || stdin.write_all(&input));
    }
    let (done, readers) = channel();
    let stdout = child.stdout.take().map(|stream| collect(stream, done.clone()));
    let stderr = child.stderr.take().map(|stream| collect(stream, done));

    let timed_out = !wait(&mut child, limit.saturating_sub(started.elapsed()))?;
    if !timed_out {
        drain(&readers, OUTPUT_GRACE);
    }
    // Ends the processes that the program left behind. It is not reaped before, so its id is still that of its group.
    end_groups(vec![group], if timed_out { TERMINATION_GRACE } else { Duration::ZERO });
    let status = child.wait()?;
    drain(&readers, OUTPUT_GRACE);
    Ok(Finished { status, timed_out, stdout: take(stdout), stderr: take(stderr) })
}

/// Starts a program as the leader of a new process group. Every program of a trial starts here.
///
/// # Errors
///
/// If it cannot be started.
pub(crate) fn spawn(command: &mut Command, echo: Echo, detached: Detached) -> io::Result<(Child, RunningGroup)> {
    #[cfg(unix)]
    let starting = watchdog::Starting::new(command, detached);
    let spawned = spawn_unwatched(command, echo);
    #[cfg(unix)]
    let spawned = match spawned {
        Ok((child, mut group)) => {
            #[cfg(target_os = "linux")]
            group.detached_mark.clone_from(&starting.mark);
            group.watched = Some(starting.started(child.id()));
            Ok((child, group))
        }
        Err(error) => {
            starting.failed();
            Err(error)
        }
    };
    spawned
}

fn spawn_unwatched(command: &mut Command, echo: Echo) -> io::Result<(Child, RunningGroup)> {
    own_group(command);
    echo.show(command);
    let child = command.spawn()?;
    let group = RunningGroup {
        id: child.id(),
        is_over: false,
        #[cfg(target_os = "linux")]
        detached_mark: None,
        #[cfg(unix)]
        watched: None,
    };
    Ok((child, group))
}

/// Makes the program the leader of a new process group.
fn own_group(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(windows)]
    std::os::windows::process::CommandExt::creation_flags(command, 0x0000_0200); // CREATE_NEW_PROCESS_GROUP
}

/// A program that was started here, with its process group. Its processes are ended when this is dropped, and if it is watched,
/// also when this process dies, however that happens.
///
/// Its leader must not be reaped before: its id could then be that of another group.
#[derive(Debug)]
pub(crate) struct RunningGroup {
    id: u32,
    /// Whether its process group has ended: the id may be that of another group.
    is_over: bool,
    /// The variable by which its detached processes are found; `None` if they are kept, or were ended.
    #[cfg(target_os = "linux")]
    detached_mark: Option<String>,
    #[cfg(unix)]
    watched: Option<watchdog::Watched>,
}

impl RunningGroup {
    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Whether a process of it exists, including one that has ended and was not waited for.
    pub(crate) fn exists(&self) -> bool {
        cfg!(unix) && group_exists(self.id)
    }

    /// Says that the group has ended. Detached processes of it may be left.
    pub(crate) fn set_over(&mut self) {
        self.is_over = true;
        #[cfg(unix)]
        drop(self.watched.take());
    }
}

impl Drop for RunningGroup {
    fn drop(&mut self) {
        signal(std::slice::from_ref(self), End::Force);
    }
}

/// Asks programs to end (SIGTERM) with all processes that they started, and ends those after `grace`.
pub(crate) fn end_groups(groups: Vec<RunningGroup>, grace: Duration) {
    if !grace.is_zero() {
        signal(&groups, End::Ask);
        let limit = Instant::now() + grace;
        while Instant::now() < limit && is_running(&groups) {
            thread::sleep(Duration::from_millis(10));
        }
    }
    // At once: dropped one by one, each would look for its processes.
    signal(&groups, End::Force);
    for mut group in groups {
        group.set_over();
        #[cfg(target_os = "linux")]
        drop(group.detached_mark.take());
    }
}

/// Whether a process of these programs runs. A leader that has ended and was not waited for does not, but its group exists.
fn is_running(groups: &[RunningGroup]) -> bool {
    if groups.iter().any(|group| !group.is_over && group.exists() && !leader_ended(group.id)) {
        return true;
    }
    #[cfg(target_os = "linux")]
    return !members::of(groups).is_empty();
    #[cfg(not(target_os = "linux"))]
    return cfg!(not(unix)) || groups.iter().any(|group| !group.is_over && group.exists());
}

/// How often detached processes are looked for: one can start another while they are ended.
#[cfg(target_os = "linux")]
const ROUNDS: usize = 5;

fn signal(groups: &[RunningGroup], end: End) {
    groups.iter().filter(|group| !group.is_over).for_each(|group| signal_group(group.id, end));
    #[cfg(target_os = "linux")]
    {
        let (signal, rounds) = match end {
            End::Ask => (rustix::process::Signal::TERM, 1),
            End::Force => (rustix::process::Signal::KILL, ROUNDS),
        };
        let can_have_left = groups.iter().any(|group| group.detached_mark.is_some());
        for _ in 0..if can_have_left { rounds } else { 0 } {
            let detached: Vec<_> = members::of(groups).into_iter().filter(|member| member.is_detached).collect();
            detached.iter().for_each(|member| member.signal(signal));
            if detached.is_empty() {
                break;
            }
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
    fn a_program_below_a_shell_has_the_whole_grace_to_end() {
        let directory = tempfile::tempdir().unwrap();
        let ended = directory.path().join("ended");
        let program = "trap 'sleep 0.5; echo > ended; exit' TERM; echo > ready; while :; do sleep 0.05; done";
        let mut command = shell(&format!("sh -c \"{program}\" & wait"));
        command.current_dir(directory.path());
        let finished = run(command, Vec::new(), Duration::from_millis(700), Echo::Off).unwrap();
        assert!(finished.timed_out && directory.path().join("ready").exists(), "the program has set its trap");
        assert!(ended.exists(), "the program ends before it is killed");
    }

    /// Starts a program that leaves its group and session; its id.
    #[cfg(target_os = "linux")]
    fn detach(detached: Detached, end: &str) -> rustix::process::Pid {
        let directory = tempfile::tempdir().unwrap();
        let line =
            format!("setsid sh -c 'echo $$ > id; exec sleep 60' & while ! [ -s id ]; do sleep 0.01; done; {end}");
        let mut command = shell(&line);
        command.current_dir(directory.path());
        run_with(command, Vec::new(), Duration::from_secs(3), Echo::Off, detached).unwrap();
        let id = std::fs::read_to_string(directory.path().join("id")).unwrap();
        rustix::process::Pid::from_raw(id.trim().parse().unwrap()).unwrap()
    }

    /// Whether it runs; a zombie does not.
    #[cfg(target_os = "linux")]
    fn runs(id: rustix::process::Pid) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.as_raw_nonzero()));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    }

    #[cfg(target_os = "linux")]
    fn wait_for_end(id: rustix::process::Pid) {
        let limit = Instant::now() + Duration::from_secs(20);
        while runs(id) {
            assert!(Instant::now() < limit, "the detached program has to end");
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_left_its_group_and_session_ends_with_the_program() {
        wait_for_end(detach(Detached::End, "exit 0"));
        wait_for_end(detach(Detached::End, "sleep 60"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_hook_may_leave_a_detached_server_behind() {
        let server = detach(Detached::Keep, "exit 0");
        assert!(runs(server));
        rustix::process::kill_process(server, rustix::process::Signal::KILL).unwrap();
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
