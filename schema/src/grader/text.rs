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
