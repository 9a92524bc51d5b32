//! The time limit of a call: it runs on a thread of its own, is asked to end at its limit, and is abandoned if it does not.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;
use std::{fmt, io, thread};

use tokio::sync::watch;

use crate::platform::async_runtime::{self, AsyncRuntime, set_user_code};
use crate::platform::errors::panic_message;
use crate::platform::excerpt::{LONGEST, middle_out};

/// How a call on a thread of its own ended.
#[derive(Debug)]
pub(crate) enum Ended<T> {
    Returned(T),
    Panicked(String),
    TimedOut,
}

/// Time for a cancelled call to drop its future before its thread is abandoned.
const GRACE: Duration = Duration::from_secs(2);

/// What is said of a thread that ended without its work.
const WITHOUT_RESULT: &str = "the thread ended without a result";

/// Stack of a call in bytes, as large as that of a program's main thread on Linux and macOS: code of users runs there in production.
const STACK: usize = 8 * 1024 * 1024;

/// The size of the stack of a call; `RUST_MIN_STACK` can make it larger, as for other threads.
fn stack_size() -> usize {
    let wanted: Option<usize> = std::env::var("RUST_MIN_STACK").ok().and_then(|size| size.parse().ok());
    wanted.unwrap_or_default().max(STACK)
}

/// Runs `work` on a thread of its own and waits at most `limit`.
///
/// A thread is the only way to survive a call that never returns, be it plain code or an async function that blocks.
/// It has the name of the current thread, so that panic messages name the test. After the limit, cancellation is requested and
/// `stop` is called. A `cooperative` call gets a short grace period, then its thread is abandoned.
pub(crate) fn call_within<T: Send + 'static>(
    limit: Duration,
    cancel: &Cancel,
    cooperative: bool,
    stop: impl FnOnce(),
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Ended<T>> {
    let returned = Arc::new(Mutex::new(None));
    let result = Arc::clone(&returned);
    let work = move || {
        let value = work();
        *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    };
    Ok(match run_within(limit, cancel, cooperative, Box::new(stop), Box::new(work))? {
        Ended::Returned(()) => match returned.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(value) => Ended::Returned(value),
            None => Ended::Panicked(WITHOUT_RESULT.to_owned()),
        },
        Ended::Panicked(message) => Ended::Panicked(message),
        Ended::TimedOut => Ended::TimedOut,
    })
}

/// [`call_within`] for any type of result, so that threads and channels are compiled once.
fn run_within(
    limit: Duration,
    cancel: &Cancel,
    cooperative: bool,
    stop: Box<dyn FnOnce() + '_>,
    work: Box<dyn FnOnce() + Send>,
) -> io::Result<Ended<()>> {
    let (sender, receiver) = sync_channel(1);
    let name = thread::current().name().unwrap_or("evalsuite").to_owned();
    thread::Builder::new().name(name).stack_size(stack_size()).spawn(move || {
        set_user_code(true);
        let result = catch_unwind(AssertUnwindSafe(work));
        set_user_code(false);
        // After a timeout there is no receiver.
        let _ = sender.send(result);
    })?;
    match receiver.recv_timeout(limit) {
        Ok(Ok(())) => Ok(Ended::Returned(())),
        Ok(Err(payload)) => Ok(Ended::Panicked(middle_out(&panic_message(&*payload), LONGEST).into_owned())),
        Err(RecvTimeoutError::Disconnected) => Ok(Ended::Panicked(WITHOUT_RESULT.to_owned())),
        Err(RecvTimeoutError::Timeout) => {
            cancel.request();
            stop();
            if cooperative {
                let _ = receiver.recv_timeout(GRACE);
            }
            Ok(Ended::TimedOut)
        }
    }
}

/// Requests that work on another thread ends, because its result is no longer needed.
#[derive(Clone, Default)]
pub(crate) struct Cancel {
    requested: watch::Sender<bool>,
    runtime: AsyncRuntime,
    before_poll: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancel").field("is_requested", &self.is_requested()).finish_non_exhaustive()
    }
}

impl Cancel {
    /// Of async code that runs on this runtime.
    pub(crate) fn on(runtime: &AsyncRuntime) -> Self {
        Self { runtime: runtime.clone(), ..Self::default() }
    }

    /// With a function that is called before each poll of the future of [`block_on`](Self::block_on), on its thread.
    pub(crate) fn before_each_poll(self, call: impl Fn() + Send + Sync + 'static) -> Self {
        Self { before_poll: Some(Arc::new(call)), ..self }
    }

    pub(crate) fn request(&self) {
        self.requested.send_replace(true);
    }

    pub(crate) fn is_requested(&self) -> bool {
        *self.requested.borrow()
    }

    /// Runs a future until it has finished, or until cancellation, when it is dropped and the result is `None`.
    pub(crate) fn block_on<F: Future>(&self, future: F) -> io::Result<Option<F::Output>> {
        let handle = self.runtime.handle()?;
        // The future is dropped within the runtime: what it holds may clean up with a task.
        let _runtime = handle.enter();
        let mut requests = self.requested.subscribe();
        let (mut future, mut cancelled) = (pin!(future), pin!(requests.wait_for(|is_requested| *is_requested)));
        let either = poll_fn(|context| {
            if self.is_requested() {
                return Poll::Ready(None);
            }
            if let Some(call) = &self.before_poll {
                call();
            }
            if let Poll::Ready(output) = future.as_mut().poll(context) {
                return Poll::Ready(Some(output));
            }
            cancelled.as_mut().poll(context).map(|_| None)
        });
        Ok(async_runtime::block_on(&handle, either))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_never_returns_is_abandoned() {
        let cancel = Cancel::default();
        let seen = cancel.clone();
        let ended = call_within(
            Duration::from_millis(20),
            &cancel,
            false,
            || (),
            move || {
                while !seen.is_requested() {
                    thread::sleep(Duration::from_millis(1));
                }
            },
        );
        assert!(matches!(ended, Ok(Ended::TimedOut)));
    }

    #[test]
    fn a_future_is_dropped_at_its_limit() {
        struct Dropped(std::sync::mpsc::Sender<()>);
        impl Drop for Dropped {
            fn drop(&mut self) {
                let _ = self.0.send(());
            }
        }
        let (sender, receiver) = std::sync::mpsc::channel();
        let cancel = Cancel::default();
        let inner = cancel.clone();
        let ended = call_within(
            Duration::from_millis(20),
            &cancel,
            true,
            || (),
            move || {
                inner.block_on(async move {
                    let _guard = Dropped(sender);
                    std::future::pending::<()>().await;
                })
            },
        );
        assert!(matches!(ended, Ok(Ended::TimedOut)));
        assert_eq!(receiver.try_recv(), Ok(()));
    }

    #[test]
    fn a_panic_is_reported_with_its_message() {
        let ended = call_within(
            Duration::from_secs(5),
            &Cancel::default(),
            false,
            || (),
            || std::panic::resume_unwind(Box::new("boom")),
        );
        assert!(matches!(ended, Ok(Ended::Panicked(message)) if message == "boom"), "the message is kept");
    }
}
