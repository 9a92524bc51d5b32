//! Tokens that a model used.

use std::ops::AddAssign;

use crate::json::{FromJson, ToJson};

/// Numbers of tokens.
///
/// ```
/// use evalsuite_schema::Usage;
///
/// let mut usage = Usage::new(1_200, 80).with_cached(400);
/// usage += Usage::new(300, 20);
/// assert_eq!((usage.input, usage.output, usage.cached), (1_500, 100, 400));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default)]
#[non_exhaustive]
pub struct Usage {
    /// Input tokens that were not read from a cache.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens that were read from a cache.
    pub cached: u64,
    /// Output tokens spent on reasoning.
    pub reasoning: u64,
}

impl Usage {
    /// Input (without cached) and output tokens.
    pub fn new(input: u64, output: u64) -> Self {
        Self { input, output, cached: 0, reasoning: 0 }
    }

    /// All tokens: input, read from a cache or not, and output.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.cached).saturating_add(self.output)
    }

    /// Sets the input tokens that were read from a cache.
    pub fn with_cached(mut self, tokens: u64) -> Self {
        self.cached = tokens;
        self
    }

    /// Sets the output tokens spent on reasoning.
    pub fn with_reasoning(mut self, tokens: u64) -> Self {
        self.reasoning = tokens;
        self
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }
}
