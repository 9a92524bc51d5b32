//! White space around texts, which graders ignore.

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
