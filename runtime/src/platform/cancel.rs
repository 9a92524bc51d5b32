//! Cancellation of work on other threads.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::{fmt, io};

use tokio::sync::Notify;

use crate::platform::async_runtime::{self, AsyncRuntime};

/// Requests that work on another thread ends, because its result is no longer needed.
#[derive(Clone, Default)]
pub(crate) struct Cancel {
    shared: Arc<Shared>,
    runtime: AsyncRuntime,
    before_poll: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancel").field("is_requested", &self.is_requested()).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Shared {
    requested: AtomicBool,
    wake: Notify,
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
        self.shared.requested.store(true, Ordering::SeqCst);
        self.shared.wake.notify_waiters();
        // `notify_waiters` does not wake a task that is about to wait; this permit does.
        self.shared.wake.notify_one();
    }

    pub(crate) fn is_requested(&self) -> bool {
        self.shared.requested.load(Ordering::SeqCst)
    }

    /// Runs a future until it has finished, or until cancellation, when it is dropped and the result is `None`.
    pub(crate) fn block_on<F: Future>(&self, future: F) -> io::Result<Option<F::Output>> {
        let handle = self.runtime.handle()?;
        let mut cancelled = pin!(self.shared.wake.notified());
        Ok(async_runtime::block_on(&handle, future, |future, context| {
            if self.is_requested() {
                return Poll::Ready(None);
            }
            if let Some(call) = &self.before_poll {
                call();
            }
            if let Poll::Ready(output) = future.poll(context) {
                return Poll::Ready(Some(output));
            }
            cancelled.as_mut().poll(context).map(|()| None)
        }))
    }
}
