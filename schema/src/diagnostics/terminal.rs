//! Text that is safe to print: without characters that affect a terminal or hide other text; and numbers with their nouns.

use std::fmt::Display;

/// Maximum length of a line in characters: of a longer one, only the ends are shown.
const LONGEST: usize = 1000;

/// Replaces characters that move the cursor, change colors, reverse the direction of text or cannot be seen. Each becomes one
/// character, so that columns stay right. Line breaks become spaces; tabs stay, and the caller expands them.
pub fn line(text: &str) -> String {
    text.chars().map(|character| if matches!(character, '\n' | '\r') { ' ' } else { printable(character) }).collect()
}

/// The same for text without marked positions: the middle of a long text is left out.
pub fn short_line(text: &str) -> String {
    line(&shortened(text))
}

/// The text, or of a long one only the ends.
pub fn shortened(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= LONGEST || text.chars().count() <= LONGEST {
        return text.into();
    }
    let half = LONGEST / 2;
    let start: String = text.chars().take(half).collect();
    let mut end: Vec<char> = text.chars().rev().take(half).collect();
    end.reverse();
    format!("{start} … {}", end.into_iter().collect::<String>()).into()
}

/// The same for several lines, of which each may be long.
pub fn lines(text: &str) -> String {
    let short: Vec<_> = text.split('\n').map(shortened).collect();
    short.join("\n").chars().filter(|&character| character != '\r').map(printable).collect()
}

/// The character, or in place of one that is unprintable, its picture or `U+FFFD`. Tabs and line feeds stay.
pub fn printable(character: char) -> char {
    match character {
        '\t' | '\n' => character,
        // The pictures of control characters.
        '\0'..' ' => char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{FFFD}'),
        '\u{7F}' => '\u{2421}',
        _ if is_unprintable(character) => '\u{FFFD}',
        _ => character,
    }
}

/// Whether a character is a control, is invisible, or changes the direction of the text around it.
pub fn is_unprintable(character: char) -> bool {
    matches!(
        character,
        '\0'..' '
        | '\u{7F}'..'\u{A0}'
        | '\u{AD}'
        | '\u{61C}'
        | '\u{180E}'
        | '\u{200B}'..='\u{200F}'
        | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{FEFF}'
        | '\u{FFF9}'..='\u{FFFB}'
        | '\u{FFFE}'..='\u{FFFF}'
        | '\u{E0000}'..='\u{E0FFF}'
    )
}

/// A number and a noun, which gets an `s` unless the number is 1.
///
/// ```
/// use evalsuite_schema::diagnostics::counted;
///
/// assert_eq!(counted(1, "unchanged case"), "1 unchanged case");
/// assert_eq!(counted(0, "call"), "0 calls");
/// ```
pub fn counted<N: Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let end = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{end}")
}
