//! Takes the place of `spans` in a build without the feature `capture`: no spans are seen.

use crate::model::agent_report::Captured;

#[derive(Clone)]
pub(crate) struct Trace;

impl Trace {
    pub(crate) fn new(_case: &str, _trial: u32) -> Self {
        Self
    }

    #[allow(clippy::unused_self, reason = "the same signature as with the feature")]
    pub(crate) fn on_unknown_threads(self, _is_on_unknown_threads: bool) -> Self {
        self
    }

    pub(crate) fn panic_cause(_panic: &str) -> Option<&'static str> {
        None
    }

    #[allow(clippy::unused_self, reason = "the same signature as with the feature")]
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }

    #[allow(clippy::unused_self, reason = "the same signature as with the feature")]
    pub(crate) fn take(&self) -> Captured {
        Captured::default()
    }

    #[allow(clippy::unused_self, reason = "the same signature as with the feature")]
    pub(crate) fn before_poll(&self) {}
}
