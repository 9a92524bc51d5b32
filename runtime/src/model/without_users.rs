//! No users as functions: the feature `users` is not enabled.

use crate::platform::async_runtime::AsyncRuntime;

/// The users of a suite.
#[derive(Debug, Clone, Default)]
pub(crate) struct Users {}

impl Users {
    #[allow(clippy::unused_self, reason = "as with the feature")]
    pub(crate) fn run_on(&mut self, _: &AsyncRuntime) {}
}
