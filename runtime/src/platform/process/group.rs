//! Process groups of programs started by this process.

#[cfg(not(unix))]
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use super::members;
#[cfg(unix)]
use super::watchdog;

/// A program that was started here, with its process group. Its processes are ended when this is dropped, and if it is watched,
/// also when this process dies, however that happens.
///
/// Its leader must not be reaped before: its id could then be that of another group.
#[derive(Debug)]
pub(crate) struct RunningGroup {
    pub(super) id: u32,
    /// Whether its process group has ended: the id may be that of another group.
    pub(super) is_over: bool,
    /// The variable by which its detached processes are found; `None` if they are kept, or were ended.
    #[cfg(target_os = "linux")]
    pub(super) detached_mark: Option<String>,
    #[cfg(unix)]
    pub(super) watched: Option<watchdog::Watched>,
}

impl RunningGroup {
    /// The group of a program that nothing watches, and whose detached processes are kept.
    pub(super) fn of(leader: u32) -> Self {
        Self {
            id: leader,
            is_over: false,
            #[cfg(target_os = "linux")]
            detached_mark: None,
            #[cfg(unix)]
            watched: None,
        }
    }

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
pub(super) fn group(id: u32) -> Option<rustix::process::Pid> {
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
