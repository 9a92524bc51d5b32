//! Observers of the steps of the agent.

use std::time::Duration;

use serde_json::Value;

/// A step of the agent.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// `read`, `check`, `try` or `write`.
    pub tool: &'static str,
    /// Input of the tool.
    pub input: Value,
    /// Output of the tool.
    pub output: Value,
    /// Duration of the step.
    pub took: Duration,
}

/// Receives what the agent does while it runs.
pub trait Observer {
    /// A step finished.
    fn step(&mut self, step: Step) {
        let _ = step;
    }

    /// Whether the agent should stop; checked between steps.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// An [`Observer`] that ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}
