//! Cancellation of work on other threads.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use tokio::sync::Notify;

/// Requests that work on another thread ends, because its result is no longer needed.
#[derive(Clone, Default)]
pub(crate) struct Cancel {
    shared: Arc<Shared>,
    observer: Option<Arc<dyn RuntimeObserver>>,
}

/// Observes the tokio runtime of a future: a tracing scope has to be entered on each of its threads.
pub(crate) trait RuntimeObserver: Send + Sync {
    /// Called on each new thread of the runtime.
    fn thread_started(&self);

    /// Called on the thread of the future before each poll.
    fn before_poll(&self);
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
    /// With an observer of the runtime of [`block_on`](Self::block_on).
    pub(crate) fn observed_by(observer: Arc<dyn RuntimeObserver>) -> Self {
        Self { shared: Arc::default(), observer: Some(observer) }
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

    /// Runs a future on a runtime of its own until it has finished, or until cancellation, when it is dropped and the result is
    /// `None`.
    ///
    /// # Errors
    ///
    /// If the runtime cannot be created.
    pub(crate) fn block_on<F: Future>(&self, future: F) -> std::io::Result<Option<F::Output>> {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        if let Some(observer) = self.observer.clone() {
            builder.on_thread_start(move || observer.thread_started());
        }
        let runtime = builder.enable_all().build()?;
        let output = runtime.block_on(async {
            let mut future = pin!(future);
            let mut cancelled = pin!(self.shared.wake.notified());
            std::future::poll_fn(|context| {
                if self.is_requested() {
                    return Poll::Ready(None);
                }
                if let Some(observer) = &self.observer {
                    observer.before_poll();
                }
                if let Poll::Ready(output) = future.as_mut().poll(context) {
                    return Poll::Ready(Some(output));
                }
                match cancelled.as_mut().poll(context) {
                    Poll::Ready(()) => Poll::Ready(None),
                    Poll::Pending => Poll::Pending,
                }
            })
            .await
        });
        // Dropping a runtime waits for its blocking tasks; those an agent leaves behind must not delay the suite.
        runtime.shutdown_background();
        Ok(output)
    }
}
