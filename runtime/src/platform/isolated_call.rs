//! Calls on separate threads, with a time limit.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{io, thread};

use crate::platform::cancel::Cancel;
use crate::platform::early_exit::set_user_code;
use crate::platform::error_chain::LONGEST;
use crate::platform::excerpt::middle_out;

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

/// The text of a panic, as `panic!` makes it.
pub(crate) fn panic_message(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
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
