//! The trial that a thread works for, and the subscriber that sees its spans.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use tracing::dispatcher::DefaultGuard;
use tracing::span::EnteredSpan;
use tracing::subscriber::NoSubscriber;
use tracing::{Dispatch, dispatcher};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry;

use crate::agents::spans::span_layer::{CaptureLayer, Interest, capture_layer, lost, subscribers};
use crate::agents::spans::span_store::Spans;
use crate::agents::spans::span_transcript;
use crate::agents::spans::thread_spans::set_thread_spans;
use crate::model::captured_spans::Captured;
use crate::platform::cancel::RuntimeObserver;

/// The subscriber of threads that have no other.
static OWN: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(registry().with(capture_layer()).with(Interest)));

thread_local! {
    static SCOPE: RefCell<Option<Scope>> = const { RefCell::new(None) };
}

/// A thread's work for a trial.
struct Scope {
    // Fields are dropped in this order.
    _span: Option<EnteredSpan>,
    subscriber: Option<DefaultGuard>,
    /// Number of subscribers when this was last looked at.
    seen: u64,
    trace: Trace,
}

/// The spans of one call of an agent, and where they were looked for.
#[derive(Clone)]
pub(crate) struct Trace {
    spans: Arc<Spans>,
    /// Number of spans of no trial before the call.
    lost: u64,
    /// Whether a subscriber of the program hid the spans.
    hidden: Arc<AtomicBool>,
}

impl Trace {
    pub(crate) fn new() -> Self {
        Self { spans: Arc::default(), lost: lost(), hidden: Arc::default() }
    }

    /// Does the work of a trial on this thread.
    pub(crate) fn within<T>(&self, case: &str, trial: u32, work: impl FnOnce() -> T) -> T {
        let _leave = Leave;
        self.enter(|| Some(tracing::info_span!(target: "evalsuite", "trial", case, trial).entered()));
        work()
    }

    fn enter(&self, span: impl FnOnce() -> Option<EnteredSpan>) {
        let seen = subscribers();
        let subscriber = self.subscriber();
        set_thread_spans(Some(Arc::clone(&self.spans)));
        SCOPE.replace(Some(Scope { _span: None, subscriber, seen, trace: self.clone() }));
        let span = span();
        SCOPE.with_borrow_mut(|scope| {
            if let Some(scope) = scope {
                scope._span = span;
            }
        });
    }

    /// Our subscriber, if the program has none. A subscriber of the program is not replaced, because its output is in use.
    fn subscriber(&self) -> Option<DefaultGuard> {
        let (none, ours) = dispatcher::get_default(|dispatch| {
            (dispatch.is::<NoSubscriber>(), dispatch.downcast_ref::<CaptureLayer>().is_some())
        });
        if none {
            return Some(dispatcher::set_default(&OWN));
        }
        self.hidden.fetch_or(!ours, Ordering::SeqCst);
        None
    }

    /// The transcript of the spans so far; later spans are ignored.
    pub(crate) fn take(&self) -> Captured {
        let mut captured = span_transcript::assemble(&self.spans.close());
        let warning = if self.hidden.load(Ordering::SeqCst) {
            Some("the program has a tracing subscriber without `evalsuite::capture_layer()`, so no spans were seen")
        } else if lost() > self.lost {
            Some(
                "during this call there were spans of models or tools on threads that belong to no trial; pass the trial's \
                 span on to them, as `tracing::Instrument::in_current_span` does",
            )
        } else {
            None
        };
        captured.doubt = warning.map(str::to_owned);
        captured
    }
}

impl RuntimeObserver for Trace {
    /// The thread works for the trial as long as it lives.
    fn thread_started(&self) {
        self.enter(|| None);
    }

    fn before_poll(&self) {
        between_polls();
    }
}

/// Removes our subscriber if the agent has set one in the meantime. Must not be called within a subscriber.
fn between_polls() {
    SCOPE.with_borrow_mut(|scope| {
        let Some(scope) = scope else { return };
        if scope.subscriber.is_some() && scope.seen != subscribers() {
            scope.seen = subscribers();
            scope.subscriber = None;
            scope.subscriber = scope.trace.subscriber();
        }
    });
}

/// Ends a thread's work for a trial, also when it panics.
struct Leave;

impl Drop for Leave {
    fn drop(&mut self) {
        set_thread_spans(None);
        // Dropped outside of the borrow, because the end of the span may use the scope.
        let scope = SCOPE.take();
        drop(scope);
    }
}
