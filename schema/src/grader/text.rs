//! Settings of the graders that compare text.

use serde::{Deserialize, Serialize};

/// Settings of the graders that look for one text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextValue {
    /// The text, not empty.
    pub value: String,
}

/// Settings of the graders that look for several texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextList {
    /// The texts, at least one, none empty.
    pub value: Vec<String>,
}

/// Settings of `regex`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Regex {
    /// The pattern, in the syntax of the `fancy-regex` crate.
    pub value: String,
    /// Flags out of `imsxu`, each at most once.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub flags: String,
}

/// Settings of `similar`. Its `threshold` is the grader's pass mark, which exists only without `max_distance`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Similar {
    /// The text to compare with, not empty; `None`: the reference text of the case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Whether case is ignored.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub ignore_case: bool,
    /// Largest number of edits that passes, in characters; `None`: the share of edits is the score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_distance: Option<u64>,
}
