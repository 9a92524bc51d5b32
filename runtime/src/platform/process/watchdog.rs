//! A shell next to the test process that ends its programs if the process dies.
//!
//! Programs run in their own process groups, so neither Ctrl-C nor the test runner's signals reach them, and after
//! `kill -9` the test process cannot end them. The shell knows the groups and reads from a pipe. When the process ends
//! for any reason, the operating system closes the pipe, and the shell ends the remaining groups. This needs no signal
//! handlers, so every signal ends the process as it would without evalsuite.
//!
//! A signal of the system at the death of the parent is no replacement: a program can only ask for it between `fork` and `exec`, it is
//! sent when the thread that started the program ends, and it does not reach what the program started.

use std::hash::{BuildHasher, Hasher};
use std::io::Write;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::platform::process::{Detached, RunningGroup, own_group};

/// Reads events of process groups: `+ ID` it has started, `- ID` it has ended. At the end of its input, it asks the remaining groups to
/// end, and ends them two seconds later.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM
groups=' '
while read -r what id; do
  case $what in
    +) groups="$groups$id " ;;
    -) groups="${groups%%" $id "*} ${groups#*" $id "}" ;;
  esac
done
for id in $groups; do kill -s TERM -- "-$id"; done
for second in 1 2; do
  left=
  for id in $groups; do kill -s 0 -- "-$id" && left=1; done
  [ "$left" ] || exit 0
  sleep 1
done
for id in $groups; do kill -s KILL -- "-$id"; done
"#;

/// The variable that marks the programs of this process.
const VARIABLE: &str = "EVALSUITE_PROCESS";

/// A program that is about to start, then its process group, which ends when this process does, if not earlier.
#[derive(Debug)]
pub(crate) struct Watched {
    /// Id of the group, once the program has started.
    id: Option<u32>,
    /// The variable by which detached processes of the program are found, unless they are kept.
    mark: Option<String>,
}

impl Watched {
    pub(crate) fn new(command: &mut Command, detached: Detached) -> Self {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let kind = if detached == Detached::End { '/' } else { '+' };
        let mark = format!("{}{kind}{}", mark(), COUNTER.fetch_add(1, Ordering::Relaxed));
        command.env(VARIABLE, &mark);
        // The shell starts before the first program, not while that runs.
        let _ = shell();
        Self { id: None, mark: (detached == Detached::End).then(|| format!("{VARIABLE}={mark}")) }
    }

    /// The program has started; its group, which is watched from now on.
    pub(crate) fn started(mut self, mut group: RunningGroup) -> RunningGroup {
        report(&format!("+ {}\n", group.id));
        self.id = Some(group.id);
        group.detached_mark = self.mark.take();
        group.watched = Some(self);
        group
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            report(&format!("- {id}\n"));
        }
    }
}

/// A value that, unlike a process id, is not reused.
fn mark() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| {
        let random = std::hash::RandomState::new().build_hasher().finish();
        format!("{:08x}-{random:016x}", std::process::id())
    })
}

fn report(line: &str) {
    let Some(shell) = shell() else { return };
    let mut pipe = shell.lock().unwrap_or_else(PoisonError::into_inner);
    // The shell may have been killed; programs still end with their trials.
    let _ = pipe.write_all(line.as_bytes());
}

fn shell() -> Option<&'static Mutex<ChildStdin>> {
    static SHELL: OnceLock<Option<Mutex<ChildStdin>>> = OnceLock::new();
    SHELL.get_or_init(start).as_ref()
}

fn start() -> Option<Mutex<ChildStdin>> {
    let mut command = Command::new("sh");
    command.args(["-c", SCRIPT]).current_dir("/");
    // It must not keep the output of the test open.
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    own_group(&mut command);
    match command.spawn() {
        Ok(mut shell) => shell.stdin.take().map(Mutex::new),
        Err(error) => {
            eprintln!("evalsuite: cannot start `sh`: {error}; if this process is killed, its programs continue to run");
            None
        }
    }
}
