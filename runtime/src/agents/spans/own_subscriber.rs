//! evalsuite's own subscriber, and when it becomes the global one.
//!
//! A program may set its subscriber while an agent runs, which works only if none is set. evalsuite therefore sets its
//! subscriber for the thread of a call first, and for all threads just before the first span of a model or tool: a
//! program that has its own subscriber has set it by then. Earlier spans on threads without a subscriber are not
//! visible. Nor is a span that another thread makes at that moment from the same line: while `tracing` registers it, it
//! asks only the subscriber of the current thread.

use std::sync::OnceLock;

use tracing::subscriber::Interest;
use tracing::{Dispatch, Metadata, Subscriber, dispatcher};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Layer, registry};

use crate::agents::spans::span_fields::is_gen_ai;
use crate::agents::spans::span_layer::{NeededSpans, capture_layer};

static OWN: OnceLock<Dispatch> = OnceLock::new();

/// The subscriber of threads that have no other.
pub(crate) fn own_subscriber() -> &'static Dispatch {
    // `tracing` asks all subscribers about a span that is made for the first time, but where there is only one, it asks that of
    // the current thread. So there are two.
    static WATCHER: OnceLock<Dispatch> = OnceLock::new();
    let own = OWN.get_or_init(|| Dispatch::new(registry().with(capture_layer()).with(NeededSpans)));
    WATCHER.get_or_init(|| Dispatch::new(registry().with(FirstSpan)));
    own
}

/// Sees no spans, but is asked about each kind of span before the first one is made, on whatever thread.
struct FirstSpan;

impl<S: Subscriber> Layer<S> for FirstSpan {
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
}
