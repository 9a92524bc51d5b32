//! Takes the place of `pattern` in a build without the feature `patterns`: a suite with patterns does not compile there.

use evalsuite_schema::Grader;

use crate::fields::PatternProblem;

/// Nothing: no pattern is compiled.
#[derive(Debug, Default)]
pub(crate) struct CompiledPatterns;

impl CompiledPatterns {
    pub(crate) fn check(&self, _pattern: &str, _flags: &str) -> Result<(), PatternProblem> {
        Ok(())
    }
}

pub(crate) fn constant_match(_pattern: &str, _flags: &str) -> Option<bool> {
    None
}

/// The feature `patterns` is missing first.
pub(crate) fn has_pattern_with_tables(_grader: &Grader) -> bool {
    false
}
