//! Processes by their files in `/proc`, on Linux.

use std::fs;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::Sought;

/// A running process.
pub(crate) struct Member {
    /// Unlike an id, it is not reused.
    handle: OwnedFd,
    /// Whether it left the process group.
    pub(crate) is_detached: bool,
}

impl Member {
    pub(crate) fn signal(&self, signal: Signal) {
        // An error means that the process has already ended.
        let _ = pidfd_send_signal(&self.handle, signal);
    }
}

/// The running processes of programs; zombies do not run. None where there is no `/proc`.
pub(crate) fn of(groups: &[Sought<'_>]) -> Vec<Member> {
    let Some(first) = groups.iter().map(|group| group.group).min() else { return Vec::new() };
    // A process has a higher id than the one that started it, until ids start again from the lowest.
    let lowest = if newest_process().is_some_and(|newest| newest >= first) { first } else { 0 };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id: &u32| *id >= lowest).filter_map(|id| member(id, groups)).collect()
}

fn member(id: u32, groups: &[Sought<'_>]) -> Option<Member> {
    let directory = Path::new("/proc").join(id.to_string());
    // Opened first: it stays this process, whatever takes the id later.
    let handle = pidfd_open(Pid::from_raw(id.try_into().ok()?)?, PidfdFlags::empty()).ok()?;
    let stat = fs::read(directory.join("stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name before `)` can contain anything.
    let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
    let (state, group) = (fields.next()?, fields.nth(1)?.parse::<u32>().ok()?);
    if matches!(state, "Z" | "X") {
        return None;
    }
    if groups.iter().any(|known| !known.is_over && known.group == group) {
        return Some(Member { handle, is_detached: false });
    }
    let environment = fs::read(directory.join("environ")).ok()?;
    let has_mark = |mark: &str| environment.split(|byte| *byte == 0).any(|set| set == mark.as_bytes());
    let mut marks = groups.iter().filter_map(|known| known.mark);
    marks.any(has_mark).then_some(Member { handle, is_detached: true })
}

/// The id of the process that was started last.
fn newest_process() -> Option<u32> {
    fs::read_to_string("/proc/loadavg").ok()?.split_ascii_whitespace().last()?.parse().ok()
}
