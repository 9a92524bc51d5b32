use std::time::Duration;

use serde_json::Value;

/// One thing the agent did.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// `read`, `check`, `try` or `write`.
    pub tool: &'static str,
    /// What it was done with.
    pub input: Value,
    /// What came of it.
    pub output: Value,
    /// How long it took.
    pub took: Duration,
}

/// Sees what the agent does while it does it.
pub trait Observer {
    /// A step is done.
    fn step(&mut self, step: Step) {
        let _ = step;
    }

    /// Whether nobody waits for the agent any more; asked between steps.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// An [`Observer`] that looks away.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}
