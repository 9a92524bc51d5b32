//! Child processes with a time limit.

use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use std::{fmt, fs};

use anyhow::{Context, Result, anyhow};

/// Status, times and output of a finished child.
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    /// From start to exit.
    pub(crate) elapsed: Duration,
    /// Processor time of the child and its children; `None` if the system does not report it.
    pub(crate) processor: Option<Duration>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Finished {
    /// Seconds of processor time; where the system does not report it, from start to exit.
    pub(crate) fn cost(&self) -> f64 {
        self.processor.unwrap_or(self.elapsed).as_secs_f64()
    }
}

/// A child that was killed at its time limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimedOut(pub(crate) Duration);

impl fmt::Display for TimedOut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "takes longer than {} s", self.0.as_secs())
    }
}

/// Runs `command` for at most `limit`. Output is redirected to files in `scratch`, because pipes would need threads that
/// compete with the build for processor time.
pub(crate) fn run(command: &mut Command, limit: Duration, scratch: &Path) -> Result<Result<Finished, TimedOut>> {
    let (stdout, stderr) = (scratch.join("stdout"), scratch.join("stderr"));
    let create = |path: &Path| fs::File::create(path).with_context(|| format!("cannot write {}", path.display()));
    command.stdin(Stdio::null()).stdout(create(&stdout)?).stderr(create(&stderr)?);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);

    let before = processor_time_of_children();
    let start = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot start {:?}", command.get_program()))?;
    let id = child.id();
    let (sender, receiver) = channel();
    let waiting = std::thread::spawn(move || {
        let waited = child.wait().map(|status| (status, start.elapsed()));
        // Fails only if the receiver gave up at the time limit.
        let _ = sender.send(waited);
        child
    });
    let waited = match receiver.recv_timeout(limit) {
        Ok(waited) => waited,
        Err(RecvTimeoutError::Timeout) => {
            kill_group(id)?;
            join(waiting)?;
            return Ok(Err(TimedOut(limit)));
        }
        Err(RecvTimeoutError::Disconnected) => return Err(anyhow!("the thread that waits for a child panicked")),
    };
    join(waiting)?;
    let (status, elapsed) = waited.context("cannot wait for a child")?;
    let processor = before.zip(processor_time_of_children()).map(|(before, after)| after.saturating_sub(before));
    let read = |path: &Path| {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok::<_, anyhow::Error>(String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok(Ok(Finished { status, elapsed, processor, stdout: read(&stdout)?, stderr: read(&stderr)? }))
}

fn join(thread: std::thread::JoinHandle<Child>) -> Result<Child> {
    thread.join().map_err(|_| anyhow!("the thread that waits for a child panicked"))
}

/// Kills a child and all its descendants.
#[cfg(unix)]
fn kill_group(id: u32) -> Result<()> {
    use rustix::io::Errno;
    use rustix::process::{Pid, Signal, kill_process_group};
    let id = i32::try_from(id).ok().and_then(Pid::from_raw).context("a child without a process id")?;
    match kill_process_group(id, Signal::KILL) {
        // It exited in the meantime.
        Ok(()) | Err(Errno::SRCH) => Ok(()),
        Err(error) => Err(error).context("cannot kill a build that exceeds its time limit"),
    }
}

#[cfg(not(unix))]
fn kill_group(id: u32) -> Result<()> {
    let mut command = Command::new("taskkill");
    command.args(["/F", "/T", "/PID", &id.to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().map(drop).context("cannot kill a build that exceeds its time limit")
}

/// Processor time of all children that have been waited for, and of theirs, in units of 10 ms.
fn processor_time_of_children() -> Option<Duration> {
    // `cutime` and `cstime` (proc_pid_stat(5)); fields are counted after the name, which may contain anything.
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let mut ticks = fields.split_ascii_whitespace().skip(13).map(str::parse::<u64>);
    let sum = ticks.next()?.ok()? + ticks.next()?.ok()?;
    Some(Duration::from_millis(sum * 10))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn scratch(name: &str) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("evalsuite-bench-compile-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        path
    }

    #[test]
    fn a_child_is_killed_at_its_time_limit() {
        let scratch = scratch("long");
        let start = Instant::now();
        let result = run(Command::new("sh").args(["-c", "sleep 60"]), Duration::from_millis(100), &scratch);
        assert!(result.expect("it starts").is_err());
        assert!(start.elapsed() < Duration::from_secs(30));
        fs::remove_dir_all(scratch).expect("removed");
    }

    #[test]
    fn output_and_status_are_returned() {
        let scratch = scratch("short");
        let result =
            run(Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]), Duration::from_secs(60), &scratch);
        let finished = result.expect("it starts").expect("it ends");
        assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("out\n", "err\n"));
        assert_eq!(finished.status.code(), Some(3));
        fs::remove_dir_all(scratch).expect("removed");
    }
}
