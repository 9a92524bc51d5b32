//! The running processes of a program: those of its process group, and those that left the group and its session. The latter are
//! found by a variable that they inherit.

#[cfg(target_os = "linux")]
pub(crate) use self::proc_files::{Member, of};
#[cfg(not(target_os = "linux"))]
pub(crate) use self::process_list::{Member, of};

/// What the processes of a program are found by.
pub(crate) struct Sought<'g> {
    /// Id of its process group.
    pub(crate) group: u32,
    /// Whether its process group has ended: the id may be that of another group.
    pub(crate) is_over: bool,
    /// The variable that its detached processes have.
    pub(crate) mark: Option<&'g str>,
}

/// Processes by their files in `/proc`, on Linux.
#[cfg(target_os = "linux")]
mod proc_files {
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
}

/// Processes as `ps` lists them, with their environment: macOS and the BSDs have no `/proc`. macOS does not show the environment of
/// programs of the system, such as `/bin/sleep`.
///
/// `ps` and not a crate such as `sysinfo` or `libproc`: it costs no user a dependency, and Linux has it too, where tests run it.
#[cfg(any(not(target_os = "linux"), test))]
#[cfg_attr(target_os = "linux", allow(dead_code, reason = "only tests use it there"))]
mod process_list {
    use std::process::{Command, Stdio};

    use rustix::process::{Pid, Signal, kill_process};

    use super::Sought;

    /// Every process with its environment after the command. Only macOS has `-E`; the others do so with `e` among options without `-`.
    const OPTIONS: &str = if cfg!(target_vendor = "apple") { "-axEww" } else { "axeww" };

    /// A running process.
    pub(crate) struct Member {
        id: Pid,
        /// Whether it left the process group.
        pub(crate) is_detached: bool,
    }

    impl Member {
        pub(crate) fn signal(&self, signal: Signal) {
            // An error means that the process has already ended.
            let _ = kill_process(self.id, signal);
        }
    }

    /// The running processes of programs; zombies do not run. None without `ps`.
    pub(crate) fn of(groups: &[Sought<'_>]) -> Vec<Member> {
        let ids: Vec<u32> = groups.iter().filter(|group| !group.is_over).map(|group| group.group).collect();
        let marks: Vec<&str> = groups.iter().filter_map(|group| group.mark).collect();
        if ids.is_empty() && marks.is_empty() {
            return Vec::new();
        }
        let mut list = Command::new("ps");
        list.args([OPTIONS, "-o", "pid=,pgid=,stat=,command="]).env("LC_ALL", "C");
        let Ok(output) = list.stdin(Stdio::null()).stderr(Stdio::null()).output() else { return Vec::new() };
        String::from_utf8_lossy(&output.stdout).lines().filter_map(|line| member(line, &ids, &marks)).collect()
    }

    /// The process of a line, if it is of one of these groups, or has one of these variables.
    fn member(line: &str, groups: &[u32], marks: &[&str]) -> Option<Member> {
        let mut fields = line.split_ascii_whitespace();
        let id = Pid::from_raw(fields.next()?.parse().ok()?)?;
        let group: u32 = fields.next()?.parse().ok()?;
        if fields.next()?.starts_with(['Z', 'X']) {
            return None;
        }
        let is_detached = !groups.contains(&group);
        if is_detached {
            fields.find(|word| marks.contains(word))?;
        }
        Some(Member { id, is_detached })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const MARK: &str = "EVALSUITE_PROCESS=0000002a-0123456789abcdef/7";

        #[test]
        fn processes_are_found_by_their_group_and_by_a_variable() {
            let found = |line: &str| {
                member(line, &[50], &[MARK]).map(|found| (found.id.as_raw_nonzero().get(), found.is_detached))
            };
            assert_eq!(found("   51    50 S+   sleep 60 HOME=/root"), Some((51, false)));
            assert_eq!(found(&format!("   52    52 Ss   sleep 60 HOME=/root {MARK} PATH=/bin")), Some((52, true)));
            assert_eq!(found(&format!("   53    53 Ss   sleep 60 {MARK}1")), None, "another program");
            assert_eq!(found("   54    50 Z    (sh)"), None);
            assert_eq!(found("   55    55 S"), None);
        }

        #[test]
        fn the_list_of_this_system_has_the_environment() {
            let mut child = Command::new("sleep")
                .arg("60")
                .env("EVALSUITE_PROCESS", &MARK["EVALSUITE_PROCESS=".len()..])
                .spawn()
                .unwrap();
            let list = |options: &str| {
                let output = Command::new("ps").args([options, "-o", "pid=,pgid=,stat=,command="]).output().unwrap();
                String::from_utf8_lossy(&output.stdout).into_owned()
            };
            let ids: Vec<u32> = list(OPTIONS)
                .lines()
                .filter_map(|line| member(line, &[], &[MARK]))
                .map(|member| member.id.as_raw_nonzero().get().unsigned_abs())
                .collect();
            child.kill().unwrap();
            child.wait().unwrap();
            // macOS does not show the environment of `sleep`.
            assert!(ids.contains(&child.id()) || cfg!(target_vendor = "apple"), "{ids:?}");
        }
    }
}
