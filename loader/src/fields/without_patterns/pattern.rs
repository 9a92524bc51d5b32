//! Takes the place of `pattern` in a build without the feature `patterns`: a suite with patterns does not compile there.

use crate::diagnostic::Code;

/// Nothing: no pattern is compiled.
#[derive(Debug, Default)]
pub(crate) struct CompiledPatterns;

/// A problem that no pattern has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatternProblem {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) offset: Option<usize>,
}

impl PatternProblem {
    pub(crate) fn message_with_offset(&self) -> String {
        self.message.clone()
    }

    pub(crate) fn help(&self, otherwise: &'static str) -> &'static str {
        otherwise
    }
}

impl CompiledPatterns {
    pub(crate) fn check(&self, _pattern: &str, _flags: &str) -> Result<(), PatternProblem> {
        Ok(())
    }
}
