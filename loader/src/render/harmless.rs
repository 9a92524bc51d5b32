//! Text from files, in a form that cannot disturb a terminal.

/// Replaces characters that move the cursor, change colors, reverse the direction of text or cannot be seen. Each becomes one
/// character, so that columns stay right. Line breaks become spaces; tabs stay, for whoever shows them to expand.
pub(super) fn line(text: &str) -> String {
    text.chars().map(|character| if matches!(character, '\n' | '\r') { ' ' } else { one(character) }).collect()
}

/// The same, but line breaks stay.
pub(super) fn lines(text: &str) -> String {
    text.chars().filter(|&character| character != '\r').map(one).collect()
}

fn one(character: char) -> char {
    match character {
        '\t' | '\n' => character,
        // The pictures of control characters.
        '\0'..' ' => char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{FFFD}'),
        '\u{7F}' => '\u{2421}',
        '\u{80}'..'\u{A0}'
        | '\u{AD}'
        | '\u{61C}'
        | '\u{180E}'
        | '\u{200B}'..='\u{200F}'
        | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{FEFF}'
        | '\u{FFF9}'..='\u{FFFB}'
        | '\u{E0000}'..='\u{E0FFF}' => '\u{FFFD}',
        _ => character,
    }
}
