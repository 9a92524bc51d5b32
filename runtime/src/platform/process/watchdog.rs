//! A shell next to the test process that ends its programs if the process dies.
//!
//! Programs run in their own process groups, so neither Ctrl-C nor the test runner's signals reach them, and after
//! `kill -9` the test process cannot end them. The shell knows the groups and reads from a pipe. When the process ends
//! for any reason, the operating system closes the pipe, and the shell ends the remaining groups. This needs no signal
//! handlers, so every signal ends the process as it would without evalsuite.
//!
//! A signal of the system at the death of the parent is no replacement: a program can only ask for it between `fork` and `exec`, it is
//! sent when the thread that started the program ends, and it does not reach what the program started. Groups alone are not enough: 50
//! processes that were killed at random moments on a busy machine left four programs that had started, but were not reported yet.

use std::hash::{BuildHasher, Hasher};
use std::io::Write;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::platform::process::{Detached, own_group};

/// Reads events of programs: `?` one is about to start, `+ ID` it has started, `!` it has not, `- ID` its group has ended. At
/// the end of its input, it asks the remaining groups to end, and ends them two seconds later. Processes that left these groups,
/// and a program that has started but whose group was not reported, are found by a variable of their environment, in `/proc` or, without
/// it, in the list of `ps`. The first event is `=` with the beginning of its value: as an argument, `ps` would show it for this shell too.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM
groups=' ' starting=0 own=
while read -r what id; do
  case $what in
    =) own=$id ;;
    '?') starting=$((starting + 1)) ;;
    '!') starting=$((starting - 1)) ;;
    +) starting=$((starting - 1)) groups="$groups$id " ;;
    -) case $groups in *" $id "*) groups="${groups%%" $id "*} ${groups#*" $id "}" ;; esac ;;
  esac
done
[ "$groups" != ' ' ] || [ "$starting" -gt 0 ] || exit 0
mark=$own/
[ "$starting" -gt 0 ] && mark=$own
marked() {
  if ! [ -r /proc/self/environ ]; then
    ps -axEww -o pid=,command= | while read -r id command; do
      case " $command" in *" $mark"*) echo "$id" ;; esac
    done
    return
  fi
  for file in $(grep -lsF "$mark" /proc/[0-9]*/environ); do
    id=${file#/proc/}
    echo "${id%/environ}"
  done
}
for id in $groups; do kill -s TERM -- "-$id"; done
for id in $(marked); do kill -s TERM "$id"; done
for second in 1 2; do
  left=$(marked)
  [ "$starting" -gt 0 ] && left=1
  for id in $groups; do kill -s 0 -- "-$id" && left=1; done
  [ "$left" ] || exit 0
  sleep 1
done
for id in $groups; do kill -s KILL -- "-$id"; done
for id in $(marked); do kill -s KILL "$id"; done
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
        report("?\n");
        Self { id: None, mark: (detached == Detached::End).then(|| format!("{VARIABLE}={mark}")) }
    }

    /// The program has started, and its group is watched from now on. The variable by which its detached processes are found, unless they
    /// are kept.
    pub(crate) fn started(&mut self, group: u32) -> Option<String> {
        report(&format!("+ {group}\n"));
        self.id = Some(group);
        self.mark.take()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        report(&self.id.map_or_else(|| "!\n".to_owned(), |id| format!("- {id}\n")));
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
    static SHELL: OnceLock<Option<Mutex<ChildStdin>>> = OnceLock::new();
    let Some(shell) = SHELL.get_or_init(start) else { return };
    let mut pipe = shell.lock().unwrap_or_else(PoisonError::into_inner);
    // The shell may have been killed; programs still end with their trials.
    let _ = pipe.write_all(line.as_bytes());
}

fn start() -> Option<Mutex<ChildStdin>> {
    let mut command = Command::new("sh");
    command.args(["-c", SCRIPT]).current_dir("/");
    // It must not keep the output of the test open.
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    own_group(&mut command);
    match command.spawn() {
        Ok(mut shell) => shell.stdin.take().map(|mut pipe| {
            // As in `report`.
            let _ = writeln!(pipe, "= {VARIABLE}={}", mark());
            Mutex::new(pipe)
        }),
        Err(error) => {
            eprintln!("evalsuite: cannot start `sh`: {error}; if this process is killed, its programs continue to run");
            None
        }
    }
}
