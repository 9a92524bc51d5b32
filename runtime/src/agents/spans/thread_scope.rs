//! The trial that a thread works for, and the subscriber that sees its spans.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tracing::dispatcher::{self, DefaultGuard};
use tracing::span::{Attributes, EnteredSpan, Id, Record};
use tracing::subscriber::{Interest, NoSubscriber};
use tracing::{Dispatch, Event, Metadata, Subscriber};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry;

use crate::agents::spans::span_fields::is_gen_ai;
use crate::agents::spans::span_layer::{CaptureLayer, NeededSpans, OWN_TARGET, capture_layer, subscribers};
use crate::agents::spans::span_store::{SeenSpans, Spans};
use crate::agents::spans::{running_calls, span_transcript};
use crate::model::captured_spans::{self, Captured, MissingSpans};

thread_local! {
    static SCOPE: RefCell<Option<Scope>> = const { RefCell::new(None) };
}

/// A thread's work for a trial.
struct Scope {
    // Fields are dropped in this order.
    span: Option<EnteredSpan>,
    subscriber: Option<DefaultGuard>,
    /// Number of subscribers when this was last looked at.
    seen: u64,
    trace: Trace,
}

/// The spans of one call of an agent, and where they were looked for.
#[derive(Clone)]
pub(crate) struct Trace {
    spans: Arc<Spans>,
    case: Arc<str>,
    trial: u32,
    /// Whether a subscriber of the program hid the spans.
    hidden: Arc<AtomicBool>,
    /// Number of subscribers when the call began.
    subscribers: u64,
}

impl Trace {
    pub(crate) fn new(case: &str, trial: u32) -> Self {
        let spans = Arc::default();
        own_subscriber();
        running_calls::begin(&spans);
        Self { spans, case: case.into(), trial, hidden: Arc::default(), subscribers: subscribers() }
    }

    /// Does the work of a trial on this thread.
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        let _leave = Leave;
        SCOPE.replace(Some(Scope { span: None, subscriber: None, seen: subscribers(), trace: self.clone() }));
        self.enter();
        work()
    }

    /// Makes the spans of this thread visible. Outside of a borrow of the scope: the ends and beginnings of spans are seen by subscribers,
    /// which may be the program's.
    fn enter(&self) {
        let subscriber = self.subscriber();
        let span = self.span();
        SCOPE.with_borrow_mut(|scope| {
            if let Some(scope) = scope {
                (scope.span, scope.subscriber) = (Some(span), subscriber);
            }
        });
    }

    /// The span around the call: spans made within it, on whatever thread, belong to the trial.
    fn span(&self) -> EnteredSpan {
        tracing::info_span!(target: OWN_TARGET, "trial", case = &*self.case, trial = self.trial).entered()
    }

    /// Our subscriber, if the program has none. A subscriber of the program is not replaced, because its output is in use.
    fn subscriber(&self) -> Option<DefaultGuard> {
        let (none, ours) = dispatcher::get_default(|dispatch| {
            (dispatch.is::<NoSubscriber>(), dispatch.downcast_ref::<CaptureLayer>().is_some())
        });
        if none {
            return Some(dispatcher::set_default(own_subscriber()));
        }
        self.hidden.fetch_or(!ours, Ordering::SeqCst);
        None
    }

    /// The transcript of the spans so far; later spans are ignored.
    pub(crate) fn take(&self) -> Captured {
        running_calls::end(&self.spans);
        let SeenSpans { spans, unassigned, outside, others, .. } = self.spans.close();
        let names = |set: BTreeSet<&'static str>| set.into_iter().collect::<Vec<_>>();
        let mut captured = span_transcript::assemble(&spans);
        captured.missing = if self.hidden.load(Ordering::SeqCst) {
            Some(MissingSpans::hidden())
        } else if !unassigned.is_empty() {
            Some(MissingSpans::unassigned(&unassigned.into_values().collect::<Vec<_>>()))
        } else if !outside.is_empty() {
            Some(MissingSpans::outside(&names(outside)))
        } else {
            captured.missing
        };
        captured.seen = Some(captured_spans::seen(&names(others), subscribers() > self.subscribers));
        captured
    }

    /// Removes our subscriber if the agent has set one in the meantime: a program may do so between two polls of a future. Must not be
    /// called within a subscriber.
    pub(crate) fn before_poll(&self) {
        let changed = SCOPE.with_borrow_mut(|scope| {
            let scope = scope.as_mut()?;
            let is_new = scope.subscriber.is_some() && scope.seen != subscribers();
            scope.seen = subscribers();
            is_new.then(|| (scope.span.take(), scope.subscriber.take()))
        });
        if let Some((span, subscriber)) = changed {
            drop(span);
            drop(subscriber);
            self.enter();
        }
    }
}

/// The spans to which this thread adds.
pub(crate) fn thread_spans() -> Option<Arc<Spans>> {
    // A span can be made while the thread ends, or while the scope changes.
    SCOPE.try_with(|scope| Some(Arc::clone(&scope.try_borrow().ok()?.as_ref()?.trace.spans))).ok()?
}

/// Ends a thread's work for a trial, also when it panics.
struct Leave;

impl Drop for Leave {
    fn drop(&mut self) {
        // Dropped outside of the borrow, because the end of the span may use the scope.
        let scope = SCOPE.take();
        drop(scope);
    }
}

static OWN: OnceLock<Dispatch> = OnceLock::new();

/// evalsuite's own subscriber, for threads that have no other.
///
/// A program may set its subscriber while an agent runs, which works only if none is set. evalsuite therefore sets its
/// subscriber for the thread of a call first, and for all threads just before the first span of a model or tool: a
/// program that has its own subscriber has set it by then. Earlier spans on threads without a subscriber are not
/// visible. Nor is a span that another thread makes at that moment from the same line: while `tracing` registers it, it
/// asks only the subscriber of the current thread.
fn own_subscriber() -> &'static Dispatch {
    // `tracing` asks all subscribers about a span that is made for the first time, but where there is only one, it asks that of
    // the current thread. So there are two.
    static WATCHER: OnceLock<Dispatch> = OnceLock::new();
    let own = OWN.get_or_init(|| Dispatch::new(registry().with(capture_layer()).with(NeededSpans)));
    WATCHER.get_or_init(|| Dispatch::new(FirstSpan));
    own
}

/// Sees no spans, but is asked about each kind of span before the first one is made, on whatever thread. It is no layer: the registry
/// below one takes half a million instructions per test.
struct FirstSpan;

impl Subscriber for FirstSpan {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if metadata.is_span()
            && is_gen_ai(metadata)
            && let Some(own) = OWN.get()
        {
            // An error says that the program has a subscriber.
            let _ = dispatcher::set_global_default(own.clone());
        }
        Interest::never()
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        false
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
