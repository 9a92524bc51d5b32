//! The spans to which a thread adds.

use std::cell::RefCell;
use std::sync::Arc;

use crate::agents::spans::span_store::Spans;

thread_local! {
    static SPANS: RefCell<Option<Arc<Spans>>> = const { RefCell::new(None) };
}

/// The spans to which this thread adds.
pub(crate) fn thread_spans() -> Option<Arc<Spans>> {
    // A span can be made while the thread ends.
    SPANS.try_with(|spans| spans.try_borrow().ok()?.clone()).ok()?
}

/// Sets the spans to which this thread adds.
pub(crate) fn set_thread_spans(spans: Option<Arc<Spans>>) {
    drop(SPANS.replace(spans));
}
