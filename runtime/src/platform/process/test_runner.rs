//! Ends this process with its test runner, which cargo may have started: `kill -9` of a runner does not reach the processes it started.

use std::sync::Once;
use std::thread;
use std::time::{Duration, SystemTime};

use crate::platform::notice;

/// From now on, this process is killed when its parent has died. Its programs end with it.
///
/// The system could send a signal instead, but it does so when the thread of the parent ends that started this process.
pub(crate) fn end_with_parent() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let watch = watch_parent();
        if let Err(error) = thread::Builder::new().name("evalsuite-runner".to_owned()).spawn(watch) {
            notice::say(&format!("the death of the test runner cannot be noticed: {error}"));
        }
    });
}

const PARENT_DIED: &str = "the test runner has died, so this test ends";

#[cfg(unix)]
fn watch_parent() -> impl FnOnce() + Send + 'static {
    use rustix::process::{Signal, getpid, getppid, kill_process};

    /// Time between two looks at the parent.
    const INTERVAL: std::time::Duration = std::time::Duration::from_millis(500);

    let parent = getppid();
    move || {
        while getppid() == parent {
            thread::sleep(INTERVAL);
        }
        notice::say(PARENT_DIED);
        // An error would mean that this process does not exist.
        let _ = kill_process(getpid(), Signal::KILL);
    }
}

#[cfg(windows)]
fn watch_parent() -> impl FnOnce() + Send + 'static {
    use super::windows::ParentProcess;

    || match ParentProcess::find() {
        Some(parent) => {
            if parent.wait() {
                notice::say(PARENT_DIED);
                std::process::exit(1);
            }
        }
        // It belongs to another user, or has died already.
        None => notice::say("the death of the test runner cannot be noticed"),
    }
}

/// `USER_HZ`: the clock ticks of `/proc`, on every architecture on which Rust has a standard library for Linux.
const TICKS_PER_SECOND: u64 = 100;

/// A process of cargo. Two programs that it starts see the same values, and no other process of this machine has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CargoParent {
    id: u32,
    /// Linux: clock ticks since the machine was started. Windows: 100 ns since 1601.
    start_ticks: u64,
    pub(crate) started: SystemTime,
}

impl CargoParent {
    /// The parent of this process, if it is `cargo`; elsewhere than on Linux and Windows: `None`, because the standard library cannot tell
    /// when another process started, and ids of processes are used again.
    #[cfg(target_os = "linux")]
    pub(crate) fn find() -> Option<Self> {
        let id = std::os::unix::process::parent_id();
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let since_boot = std::fs::read_to_string("/proc/stat").ok()?;
        Self::parse(id, &stat, &since_boot)
    }

    #[cfg(windows)]
    pub(crate) fn find() -> Option<Self> {
        let parent = super::windows::ParentProcess::find()?;
        let is_cargo = parent.program.eq_ignore_ascii_case("cargo.exe");
        Some(Self { id: parent.id, start_ticks: parent.start, started: parent.started()? }).filter(|_| is_cargo)
    }

    #[cfg(not(any(target_os = "linux", windows)))]
    pub(crate) fn find() -> Option<Self> {
        None
    }

    /// Reads `/proc/ID/stat` and `/proc/stat`.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has these files"))]
    fn parse(id: u32, stat: &str, of_machine: &str) -> Option<Self> {
        // The name is in parentheses, and may have some itself.
        let (name, fields) = stat.split_once('(')?.1.rsplit_once(')')?;
        if name != "cargo" {
            return None;
        }
        // The 22nd field of the file, of which the third is the first one here.
        let start_ticks: u64 = fields.split_ascii_whitespace().nth(19)?.parse().ok()?;
        let booted: u64 = of_machine.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
        let seconds = booted.checked_add(start_ticks / TICKS_PER_SECOND)?;
        Some(Self { id, start_ticks, started: SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))? })
    }

    /// What no other process of the machine has.
    pub(crate) fn identity(&self) -> String {
        format!("{} {} {:?}", self.id, self.start_ticks, self.started)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: &str = "cpu  1 2 3\nbtime 1764000000\nprocesses 5\n";

    fn stat(name: &str) -> String {
        format!("77 ({name}) S 1 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 3 0 4250 1000 50\n")
    }

    #[test]
    fn a_cargo_is_known_by_its_start() {
        let found = CargoParent::parse(77, &stat("cargo"), MACHINE).unwrap();
        assert_eq!(found.started, SystemTime::UNIX_EPOCH + Duration::from_secs(1_764_000_042));
        let later = CargoParent::parse(77, &stat("cargo").replace("4250", "4251"), MACHINE).unwrap();
        assert_ne!(found.identity(), later.identity());
    }

    #[test]
    fn other_parents_and_other_texts_are_none() {
        for name in ["bash", "cargo-nextest", "my (cargo)", "cargo) S"] {
            assert_eq!(CargoParent::parse(77, &stat(name), MACHINE), None, "{name}");
        }
        assert_eq!(CargoParent::parse(77, "77 (cargo) S 1", MACHINE), None);
        assert_eq!(CargoParent::parse(77, &stat("cargo"), ""), None);
    }
}
