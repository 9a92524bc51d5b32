//! A trace without the feature `capture`: no spans are seen.

use crate::model::captured_spans::Captured;
use crate::platform::cancel::RuntimeObserver;

#[derive(Clone)]
pub(crate) struct Trace;

impl Trace {
    pub(crate) fn new() -> Self {
        Self
    }

    #[allow(clippy::unused_self, reason = "the same signature as with the feature")]
    pub(crate) fn within<T>(&self, _case: &str, _trial: u32, work: impl FnOnce() -> T) -> T {
        work()
    }

    #[allow(clippy::unused_self, reason = "the same signature as with the feature")]
    pub(crate) fn take(&self) -> Captured {
        Captured::default()
    }
}

impl RuntimeObserver for Trace {
    fn thread_started(&self) {}

    fn before_poll(&self) {}
}
