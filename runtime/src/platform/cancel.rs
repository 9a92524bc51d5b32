//! Cancellation of work on other threads.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::{fmt, io};

use tokio::sync::watch;

use crate::platform::async_runtime::{self, AsyncRuntime};

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
