//! Why a pattern cannot be used, with and without the feature `patterns`.

use crate::diagnostic::Code;

/// Why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatternProblem {
    pub(crate) code: Code,
    pub(crate) message: String,
    /// The byte of the pattern where it is, if it is at one.
    pub(crate) offset: Option<usize>,
}

impl PatternProblem {
    /// The problem with its place in the pattern, for who cannot point at it.
    pub(crate) fn message_with_offset(&self) -> String {
        let place = self.offset.map(|offset| format!(" at offset {offset}")).unwrap_or_default();
        format!("{}{place}", self.message)
    }

    /// What to do about it; `otherwise` about one that is invalid.
    pub(crate) fn help(&self, otherwise: &'static str) -> &'static str {
        if self.code == Code::LimitExceeded { "write shorter patterns, or split the suite" } else { otherwise }
    }
}
