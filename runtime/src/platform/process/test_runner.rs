//! Ends this process with its test runner: `kill -9` of a runner does not reach the processes it started.

use std::sync::Once;
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, getpid, getppid, kill_process};

use crate::platform::notice;

/// Time between two looks at the parent.
const INTERVAL: Duration = Duration::from_millis(500);

/// From now on, this process is killed when its parent has died. Its programs end with it.
///
/// The system could send a signal instead, but it does so when the thread of the parent ends that started this process.
pub(crate) fn end_with_parent() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let parent = getppid();
        let watch = move || {
            while getppid() == parent {
                thread::sleep(INTERVAL);
            }
            notice::say("the test runner has died, so this test ends");
            // An error would mean that this process does not exist.
            let _ = kill_process(getpid(), Signal::KILL);
        };
        if let Err(error) = thread::Builder::new().name("evalsuite-runner".to_owned()).spawn(watch) {
            notice::say(&format!("the death of the test runner cannot be noticed: {error}"));
        }
    });
}
