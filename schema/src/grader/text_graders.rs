//! Settings of the graders that compare text, and the white space around texts that graders ignore.

use evalsuite_derive::Keys;

use super::GraderSettings;
use crate::json::{FromJson, ToJson};

/// Settings of the graders that look for one text.
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson, Keys)]
pub struct TextValue {
    /// The text.
    #[key(NotEmpty, "\"19.90\"", required, codes(ControlCharacter, GraderCannotFail, GraderCannotPass))]
    pub value: String,
}

impl GraderSettings for TextValue {
    fn name_part(&self) -> Option<String> {
        Some(self.value.clone())
    }

    fn texts(&self) -> Vec<&str> {
        vec![&self.value]
    }
}

/// Settings of the graders that look for several texts.
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson, Keys)]
pub struct TextList {
    /// The texts.
    #[key(Some(&NotEmpty), "[refund, reimburse]", required, empty(BlankValue, "is an empty list", "add a text to look for"),
        codes(BlankValue, ControlCharacter, GraderCannotPass))]
    pub value: Vec<String>,
}

impl GraderSettings for TextList {
    fn name_part(&self) -> Option<String> {
        Some(self.value.len().to_string())
    }

    fn texts(&self) -> Vec<&str> {
        self.value.iter().map(String::as_str).collect()
    }
}

/// Removes white space at both ends: tab, line ends, vertical tab, form feed, byte order mark and Unicode space separators, as `trim` of
/// JavaScript does.
pub fn trim(text: &str) -> &str {
    text.trim_matches(|character| {
        matches!(
            character,
            '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{feff}' | '\u{2028}' | '\u{2029}'
            // Unicode general category Zs.
            | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
        )
    })
}
