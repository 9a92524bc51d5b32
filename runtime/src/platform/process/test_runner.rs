//! Ends this process with its test runner: `kill -9` of a runner does not reach the processes it started.

use std::sync::Once;
use std::thread;

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
    use super::parent_process::ParentProcess;

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
