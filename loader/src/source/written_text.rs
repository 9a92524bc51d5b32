//! Where a character of a text is in its file, in which the text has quotes, escapes and line breaks of YAML or JSON.

use std::iter::Peekable;
use std::str::Chars;

use super::{Position, position_after};

/// The position of the byte `offset` of `text`, which is written as `raw` from `start` on. `None` if it is written in a way that is not
/// followed here.
pub(super) fn position_of(raw: &str, start: Position, text: &str, offset: usize) -> Option<Position> {
    let quote = raw.chars().next().filter(|quote| "'\"".contains(*quote) && raw.len() > 1 && raw.ends_with(*quote));
    let mut rest = Rest { raw, at: usize::from(quote.is_some()), quote, indent: start.column.saturating_sub(1) };
    let target = text.char_indices().map(|(index, _)| index).take_while(|index| *index < offset).count();
    let mut expected = text.chars().peekable();
    for _ in 0..target {
        rest.skip(&mut expected)?;
    }
    (rest.at <= raw.len()).then(|| position_after(&raw[..rest.at], start))
}

struct Rest<'r> {
    raw: &'r str,
    /// The next byte.
    at: usize,
    quote: Option<char>,
    /// Blanks before each line of a block.
    indent: u32,
}

impl Rest<'_> {
    /// Skips what stands for the next character of the text.
    fn skip(&mut self, text: &mut Peekable<Chars<'_>>) -> Option<()> {
        let expected = text.next()?;
        let rest = &self.raw[self.at..];
        let next = rest.chars().next()?;
        let length = match (next, self.quote) {
            ('\r' | '\n', _) if expected == '\n' || expected == ' ' => {
                let line_break = if rest.starts_with("\r\n") { 2 } else { 1 };
                let after = &rest[line_break..];
                // A block has its indentation, and other texts any.
                let most = if self.quote.is_some() { usize::MAX } else { self.indent as usize };
                line_break + after.bytes().take(most).take_while(|byte| *byte == b' ').count()
            }
            ('\\', Some('"')) => {
                let (character, length) = escaped(rest)?;
                (character == expected).then_some(length)?
            }
            ('\'', Some('\'')) => (expected == '\'' && rest.starts_with("''")).then_some(2)?,
            _ => (next == expected).then(|| next.len_utf8())?,
        };
        self.at += length;
        Some(())
    }
}

/// The character at the start of `rest`, which is an escape between double quotes, and its length.
fn escaped(rest: &str) -> Option<(char, usize)> {
    let code = |range: std::ops::Range<usize>| u32::from_str_radix(rest.get(range)?, 16).ok();
    let simple = match rest[1..].chars().next()? {
        'x' => return Some((char::from_u32(code(2..4)?)?, 4)),
        'U' => return Some((char::from_u32(code(2..10)?)?, 10)),
        'u' => {
            let first = code(2..6)?;
            return match char::from_u32(first) {
                Some(character) => Some((character, 6)),
                None if rest[6..].starts_with("\\u") => {
                    let pair = 0x1_0000 + ((first & 0x3FF) << 10) + (code(8..12)? & 0x3FF);
                    Some((char::from_u32(pair)?, 12))
                }
                None => None,
            };
        }
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        same @ ('\\' | '"' | '/' | ' ') => same,
        _ => return None,
    };
    Some((simple, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line and column of the character `!` of a text, which is written with it.
    fn found(raw: &str, column: u32, text: &str) -> Option<(u32, u32)> {
        let start = Position { line: 1, column };
        let position = position_of(raw, start, text, text.find('!').unwrap())?;
        Some((position.line, position.column))
    }

    #[test]
    fn quotes_escapes_and_line_breaks_are_followed() {
        assert_eq!(found("ab!c", 4, "ab!c"), Some((1, 6)));
        assert_eq!(found("'it''s !'", 4, "it's !"), Some((1, 11)));
        assert_eq!(found(r#""\\d\"\u00e4\x41!""#, 4, r#"\d"äA!"#), Some((1, 20)));
        assert_eq!(found(r#""\ud83d\ude00!""#, 1, "😀!"), Some((1, 14)));
        assert_eq!(found("ä\n    b!", 5, "ä\nb!"), Some((2, 6)));
        assert_eq!(found("ä\r\n      b!", 5, "ä\n  b!"), Some((2, 8)));
        assert_eq!(found("a\n    b!", 5, "a b!"), Some((2, 6)));
        assert_eq!(found("'a\n  b!'", 5, "a b!"), Some((2, 4)));
    }

    #[test]
    fn what_is_written_otherwise_has_no_position() {
        assert_eq!(found("{{ name }}!", 1, "Ana!"), None);
        assert_eq!(found("'a\n\n  b!'", 1, "a\nb!"), None);
    }
}
