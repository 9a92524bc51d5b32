//! Threads that run code of users, which must not end the process: a test would pass.

use std::cell::Cell;
use std::{process, thread};

use crate::platform::notice;

thread_local! {
    static USER_CODE: UserCode = const { UserCode(Cell::new(None)) };
}

/// The process in which this thread runs code of users; a fork of it may end. On Linux with glibc, `exit` drops the thread-local values of
/// the thread that calls it; under Wine it does not. A handler for all threads would need unsafe code.
struct UserCode(Cell<Option<u32>>);

/// From now on, this thread runs code of users, or no longer.
pub(crate) fn set_user_code(is_running: bool) {
    let _ = USER_CODE.try_with(|code| code.0.set(is_running.then(process::id)));
}

impl Drop for UserCode {
    fn drop(&mut self) {
        if self.0.get() == Some(process::id()) {
            let name = thread::current().name().unwrap_or("without a name").to_owned();
            notice::say(&format!(
                "an agent, grader or judge ended the process with `exit` (thread `{name}`); the process is aborted, so that its test \
                 does not pass"
            ));
            process::abort();
        }
    }
}
