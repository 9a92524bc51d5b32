//! The tokio runtime for async code of users: one per process, so that shared clients, pools and sessions outlive
//! single calls; and the threads that run code of users, which must not end the process: a test would pass.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use std::{io, process, thread};

use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use tokio::task::LocalSet;

use crate::platform::notice;

/// The runtime of the process, or one that the program brings.
#[derive(Debug, Clone, Default)]
pub(crate) struct AsyncRuntime(Option<Handle>);

impl AsyncRuntime {
    pub(crate) fn of_program(handle: Handle) -> Self {
        Self(Some(handle))
    }

    pub(crate) fn is_of_program(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn handle(&self) -> io::Result<Handle> {
        let handle = match &self.0 {
            Some(handle) => handle.clone(),
            None => process_runtime()?.handle().clone(),
        };
        match handle.runtime_flavor() {
            RuntimeFlavor::CurrentThread => Err(io::Error::other(
                "the program's runtime has one thread, the current one; use a multi-thread runtime",
            )),
            _ => Ok(handle),
        }
    }
}

/// Looks for tasks that a call spawned and that go on after it. Which call spawned a task is known only if no other one ran.
pub(crate) struct TaskCount {
    handle: Option<Handle>,
    alive: usize,
    begun: u64,
    is_alone: bool,
}

static BEGUN: AtomicU64 = AtomicU64::new(0);
static RUNNING: AtomicUsize = AtomicUsize::new(0);

impl TaskCount {
    /// Before a call.
    pub(crate) fn begin(runtime: &AsyncRuntime) -> Self {
        let handle = runtime.handle().ok();
        let alive = handle.as_ref().map_or(0, |handle| handle.metrics().num_alive_tasks());
        let begun = BEGUN.fetch_add(1, Ordering::SeqCst) + 1;
        Self { handle, alive, begun, is_alone: RUNNING.fetch_add(1, Ordering::SeqCst) == 0 }
    }

    /// Number of tasks that were spawned since and are still alive; 0 if it is unknown. Tasks that are just ending get some
    /// milliseconds.
    pub(crate) fn left_behind(&self) -> usize {
        let alive_now = || match &self.handle {
            Some(handle) if self.is_alone && BEGUN.load(Ordering::SeqCst) == self.begun => {
                handle.metrics().num_alive_tasks().saturating_sub(self.alive)
            }
            _ => 0,
        };
        for _ in 0..5 {
            if alive_now() == 0 {
                return 0;
            }
            thread::sleep(Duration::from_millis(1));
        }
        alive_now()
    }
}

impl Drop for TaskCount {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::SeqCst);
    }
}

static THREAD_START: OnceLock<fn()> = OnceLock::new();

/// Has each thread of the process's runtime call this function when it starts. The first function stays.
#[cfg_attr(not(feature = "capture"), expect(dead_code, reason = "no spans are looked for"))]
pub(crate) fn on_thread_start(call: fn()) {
    THREAD_START.get_or_init(|| call);
}

/// Never dropped: connections and tasks that calls share live as long as the process.
fn process_runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<io::Result<Runtime>> = OnceLock::new();
    let made = RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        let start = || {
            set_user_code(true);
            THREAD_START.get().iter().for_each(|call| call());
        };
        builder.on_thread_start(start).on_thread_stop(|| set_user_code(false));
        builder.thread_name("evalsuite").enable_all().build()
    });
    made.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()))
}

/// Drives a future, which need not be `Send`, on this thread. Tasks of `spawn_local` run beside it and end with it; other tasks
/// belong to the runtime.
///
/// [`LocalSet::run_until`] would do the same, but forbids `block_in_place`.
pub(crate) fn block_on<F: Future>(handle: &Handle, future: F) -> F::Output {
    let mut local = LocalSet::new();
    let mut future = pin!(future);
    handle.block_on(poll_fn(|context| {
        let polled = {
            let _local = local.enter();
            future.as_mut().poll(context)
        };
        if polled.is_pending() {
            // Ready is a set without tasks; the next ones wake this future.
            let _ = Pin::new(&mut local).poll(context);
        }
        polled
    }))
}

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
