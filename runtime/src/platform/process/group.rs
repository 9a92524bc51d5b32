//! Process groups of programs started by this process.

use std::process::Child;
use std::time::{Duration, Instant};
use std::{io, thread};

#[cfg(unix)]
use super::members;
#[cfg(unix)]
use super::watchdog;
#[cfg(windows)]
use super::windows::{ProcessJob, ask_to_end};

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
    #[cfg(unix)]
    pub(super) detached_mark: Option<String>,
    #[cfg(unix)]
    pub(super) watched: Option<watchdog::Watched>,
    #[cfg(windows)]
    job: Option<ProcessJob>,
}

impl RunningGroup {
    /// A program that has just been started, with its group. On Unix, nothing watches it yet, and its detached processes are kept.
    pub(super) fn of(leader: Child) -> io::Result<(Child, Self)> {
        #[cfg(windows)]
        let (leader, job) = match ProcessJob::of(&leader) {
            Ok(job) => (leader, job),
            Err(error) => {
                let mut leader = leader;
                leader.kill()?;
                leader.wait()?;
                return Err(io::Error::new(error.kind(), format!("it cannot be put in a job object: {error}")));
            }
        };
        let group = Self {
            id: leader.id(),
            is_over: false,
            #[cfg(unix)]
            detached_mark: None,
            #[cfg(unix)]
            watched: None,
            #[cfg(windows)]
            job: Some(job),
        };
        Ok((leader, group))
    }

    /// Its processes are ended when this process dies, too.
    #[cfg(unix)]
    pub(super) fn watch(mut self, mut watched: watchdog::Watched) -> Self {
        self.detached_mark = watched.started(self.id);
        self.watched = Some(watched);
        self
    }

    /// Lets the processes continue to run that are not ended with the group of a program which has ended.
    pub(super) fn keep_detached(&mut self) {
        #[cfg(windows)]
        if let Some(job) = self.job.take() {
            // An error means that they end.
            let _ = job.keep();
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Whether a process of it exists. On Unix, this includes one that has ended and was not waited for.
    pub(crate) fn exists(&self) -> bool {
        #[cfg(unix)]
        return group(self.id).is_some_and(|group| rustix::process::test_kill_process_group(group).is_ok());
        #[cfg(windows)]
        return self.job.as_ref().is_some_and(ProcessJob::has_processes);
    }

    /// Whether the program itself has ended, whatever became of the processes that it started.
    #[cfg(feature = "acp")]
    pub(crate) fn leader_ended(&self) -> bool {
        if cfg!(unix) { leader_ended(self.id) } else { !self.exists() }
    }

    /// Says that the group has ended. Detached processes of it may be left.
    pub(crate) fn set_over(&mut self) {
        self.is_over = true;
        #[cfg(unix)]
        drop(self.watched.take());
        #[cfg(windows)]
        drop(self.job.take());
    }
}

impl Drop for RunningGroup {
    fn drop(&mut self) {
        signal(std::slice::from_ref(self), End::Force);
    }
}

/// Asks programs to end (SIGTERM, on Windows Ctrl-Break) with all processes that they started, and ends those after `grace`.
pub(crate) fn end_groups(groups: Vec<RunningGroup>, grace: Duration) {
    if !grace.is_zero() && signal(&groups, End::Ask) {
        let limit = Instant::now() + grace;
        while Instant::now() < limit && is_running(&groups) {
            thread::sleep(Duration::from_millis(10));
        }
    }
    // At once: dropped one by one, each would look for its processes.
    signal(&groups, End::Force);
    for mut group in groups {
        group.set_over();
        #[cfg(unix)]
        drop(group.detached_mark.take());
    }
}

/// Whether a process of these programs runs. A leader that has ended and was not waited for does not, but its group exists.
fn is_running(groups: &[RunningGroup]) -> bool {
    if groups.iter().any(|group| !group.is_over && group.exists() && !leader_ended(group.id)) {
        return true;
    }
    #[cfg(unix)]
    return !members(groups).is_empty();
    #[cfg(windows)]
    return false;
}

#[cfg(unix)]
fn members(groups: &[RunningGroup]) -> Vec<members::Member> {
    let sought = groups.iter().map(|group| members::Sought {
        group: group.id,
        is_over: group.is_over,
        mark: group.detached_mark.as_deref(),
    });
    members::of(&sought.collect::<Vec<_>>())
}

/// How often detached processes are looked for: one can start another while they are ended.
#[cfg(unix)]
const ROUNDS: usize = 5;

/// Whether a group got the signal.
fn signal(groups: &[RunningGroup], end: End) -> bool {
    let signalled = groups.iter().filter(|group| !group.is_over && signal_group(group, end)).count();
    signal_detached(groups, end) || signalled > 0
}

/// Whether a process may have left its group.
#[cfg(unix)]
fn signal_detached(groups: &[RunningGroup], end: End) -> bool {
    let rounds = if end == End::Ask { 1 } else { ROUNDS };
    let can_have_left = groups.iter().any(|group| group.detached_mark.is_some());
    for _ in 0..if can_have_left { rounds } else { 0 } {
        let detached: Vec<_> = members(groups).into_iter().filter(|member| member.is_detached).collect();
        detached.iter().for_each(|member| member.signal(end.signal()));
        if detached.is_empty() {
            break;
        }
    }
    can_have_left
}

/// No process leaves its job.
#[cfg(windows)]
fn signal_detached(_: &[RunningGroup], _: End) -> bool {
    false
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Ask,
    Force,
}

#[cfg(unix)]
impl End {
    fn signal(self) -> rustix::process::Signal {
        match self {
            Self::Ask => rustix::process::Signal::TERM,
            Self::Force => rustix::process::Signal::KILL,
        }
    }
}

#[cfg(unix)]
fn group(id: u32) -> Option<rustix::process::Pid> {
    i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw)
}

fn signal_group(known: &RunningGroup, end: End) -> bool {
    // An error means that the group has already ended.
    #[cfg(unix)]
    return group(known.id).is_some_and(|group| rustix::process::kill_process_group(group, end.signal()).is_ok());
    // A job ends its processes when its group drops it.
    #[cfg(windows)]
    return end == End::Ask && ask_to_end(known.id).is_ok();
}

#[cfg(unix)]
pub(super) fn leader_ended(id: u32) -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    // A process that is not a child of this one has been waited for.
    group(id).is_none_or(|leader| !matches!(waitid(WaitId::Pid(leader), options), Ok(None)))
}

#[cfg(windows)]
fn leader_ended(_id: u32) -> bool {
    // It is not in its job any more.
    false
}
