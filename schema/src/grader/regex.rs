//! Settings of the grader `regex`.

use evalsuite_derive::Keys;

use super::GraderSettings;
use crate::json::{FromJson, ToJson};

/// The pattern matches anywhere in the answer.
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson, Keys)]
pub struct Regex {
    /// The pattern, in the syntax of the crate `fancy-regex`. `\d`, `\w`, `\s`, `\b`, `\p{…}` and ignoring case need the feature
    /// `unicode-patterns` of evalsuite.
    #[key(NotEmpty, "'\\b19[.,]90\\b'", required)]
    #[key(codes(InvalidRegex, CheckedAtRunTime, LimitExceeded, ControlCharacter, GraderCannotFail, GraderCannotPass))]
    pub value: String,
    /// `i` ignores case, `m` lets `^` and `$` match at lines, `s` lets `.` match line ends, `x` allows blanks and comments, `u` has no effect.
    #[key(AnyText, "i", default = "none", codes(InvalidRegex, IgnoredRegexFlag), by_hand, init = String::new())]
    #[json(default, skip_if = "String::is_empty")]
    pub flags: String,
}

impl GraderSettings for Regex {
    fn name_part(&self) -> Option<String> {
        let end = self.value.char_indices().nth(30).map_or(self.value.len(), |(end, _)| end);
        Some(self.value[..end].to_owned())
    }

    fn pattern(&self) -> Option<(&str, &str)> {
        Some((&self.value, &self.flags))
    }
}
