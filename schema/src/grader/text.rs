//! Settings of the graders that compare text.

use evalsuite_derive::{Keys, skip_empty};

use crate::json::{FromJson, ToJson};

/// Settings of the graders that look for one text.
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson, Keys)]
pub struct TextValue {
    /// The text.
    #[key(NotEmpty, "\"19.90\"", required, codes(ControlCharacter, GraderCannotFail, GraderCannotPass))]
    pub value: String,
}

/// Settings of the graders that look for several texts.
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson, Keys)]
pub struct TextList {
    /// The texts.
    #[key(Some(&NotEmpty), "[refund, reimburse]", required, empty(BlankValue, "is an empty list", "add a text to look for"),
        codes(BlankValue, ControlCharacter, GraderCannotPass))]
    pub value: Vec<String>,
}

/// Settings of `regex`.
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson, Keys)]
pub struct Regex {
    /// The pattern, in the syntax of the crate `fancy-regex`. Classes of Unicode (`\d`, `\w`, `\s`, `\b`, `\p{…}`) and ignoring case need the
    /// feature `unicode-patterns`: `cargo add --dev evalsuite --features unicode-patterns`. Without it, they are a compile error.
    #[key(NotEmpty, "'\\b19[.,]90\\b'", required)]
    #[key(codes(InvalidRegex, CheckedAtRunTime, LimitExceeded, ControlCharacter, GraderCannotFail, GraderCannotPass))]
    pub value: String,
    /// `i` ignores case, `m` lets `^` and `$` match at lines, `s` lets `.` match line ends, `x` allows blanks and comments, `u` has no
    /// effect on patterns, which are Unicode.
    #[key(AnyText, "i", default = "none", codes(InvalidRegex, IgnoredRegexFlag), by_hand, init = String::new())]
    #[json(default, skip_if = "String::is_empty")]
    pub flags: String,
}

/// Settings of `similar`. Its `threshold` is the grader's pass mark, which it has only without `max_distance`.
#[skip_empty]
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson, Keys)]
pub struct Similar {
    /// The text to compare with. Required in the tasks layout.
    #[key(
        NotEmpty,
        "Refund approved.",
        default = "the case's `expected_output`",
        codes(MissingGraderSetting, ControlCharacter)
    )]
    pub value: Option<String>,
    /// Whether case is ignored.
    #[also(threshold: Number(&PASS_MARK), "0.9", "The pass mark: another spelling of `min_score`.",
        codes(ConflictingKeys, SettingConflict), by_hand)]
    #[key(Boolean, "true", default = "`false`")]
    #[json(default, skip_if = "crate::is_default")]
    pub ignore_case: bool,
    /// Largest edit distance that passes, in place of a pass mark.
    #[key(Integer(0, u64::MAX), "3", unit = "characters", codes(SettingConflict))]
    pub max_distance: Option<u64>,
}
