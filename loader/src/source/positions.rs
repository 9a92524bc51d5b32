//! Positions in a file: its lines by their number, and the part of a line that is shown with a diagnostic; and where a character of a text is in
//! its file, in which the text has quotes, escapes and line breaks of YAML or JSON.
//!
//! `annotate-snippets` would show lines at rendering, from the whole file; a diagnostic has to be shown without it.

use std::iter::Peekable;
use std::ops::Range;
use std::str::Chars;
use std::sync::Arc;

use evalsuite_schema::diagnostics::{Excerpt, Position, terminal};

use super::position_after;

/// Lines with more characters are shown in part.
const LONG: usize = 160;

/// How much of a long line is shown, and how much of that before the range.
const SHOWN: usize = 100;
const BEFORE: usize = 30;

/// Characters between two positions whose byte is known: a line may be as long as a file.
const STEP: usize = 1024;

/// Where the lines of a text are.
#[derive(Debug)]
pub(crate) struct LineIndex {
    text: Arc<str>,
    /// The first character of each line: a file may be nothing but line breaks.
    starts: Vec<u32>,
    /// Number of characters.
    count: usize,
    /// The byte of every 1024th character.
    bytes: Vec<usize>,
}

impl LineIndex {
    /// Lines end as editors count them: with `\n`, `\r\n` or `\r`.
    pub(super) fn new(text: Arc<str>) -> Self {
        let breaks = text.bytes().filter(|byte| matches!(byte, b'\n' | b'\r')).count();
        let (mut starts, mut bytes) = (Vec::with_capacity(breaks + 1), Vec::new());
        let (mut count, mut previous) = (0, ' ');
        starts.push(0);
        for (number, (byte, character)) in text.char_indices().enumerate() {
            if number % STEP == 0 {
                bytes.push(byte);
            }
            count = number + 1;
            let next = u32::try_from(count).unwrap_or(u32::MAX);
            match (character, previous, starts.last_mut()) {
                // The second half of a line break.
                ('\n', '\r', Some(start)) => *start = next,
                ('\n' | '\r', ..) => starts.push(next),
                _ => {}
            }
            previous = character;
        }
        Self { text, starts, count, bytes }
    }

    /// The characters of a line, without the line break; `None` after the last one.
    fn characters_of(&self, index: usize) -> Option<Range<usize>> {
        let start = *self.starts.get(index)? as usize;
        let Some(&next) = self.starts.get(index + 1) else { return Some(start..self.count) };
        let line = self.characters(start..next as usize);
        let without_break = line.strip_suffix("\r\n").map_or(1, |_| 2);
        Some(start..next as usize - without_break)
    }

    /// The text of a range in one line.
    pub(crate) fn text(&self, (start, end): (Position, Position)) -> &str {
        let line = self.characters_of(self.line(start.line as usize)).unwrap_or_default();
        let at = |position: Position| line.start + (position.column as usize).saturating_sub(1).min(line.len());
        self.characters(at(start)..at(end).max(at(start)))
    }

    /// The line of a range. Of a range of several lines, the first is shown; a range after the end of the text is moved
    /// there.
    pub(super) fn excerpt(&self, start: Position, end: Position) -> Excerpt {
        let index = self.line(start.line as usize);
        let line = self.characters_of(index).unwrap_or_default();
        let length = line.len();
        let is_after_the_end = index + 1 < start.line as usize;
        let first = if is_after_the_end { length } else { (start.column as usize).saturating_sub(1).min(length) };
        let window = if length <= LONG {
            0..length
        } else {
            let from = first.saturating_sub(BEFORE).min(length - SHOWN);
            from..from + SHOWN
        };
        let part = |from: usize, to: usize| terminal::line(self.characters(line.start + from..line.start + to));
        let (before, after) = (part(window.start, first), part(first, window.end));
        let marked = if end.line == start.line && !is_after_the_end {
            let columns = (end.column as usize).saturating_sub(1).saturating_sub(first);
            after.char_indices().nth(columns).map_or(after.len(), |(byte, _)| byte)
        } else {
            // Up to the end of the line, without the white space there.
            after.trim_end().len()
        };
        let mut text = String::new();
        if window.start > 0 {
            text.push_str(Excerpt::CUT);
        }
        text.push_str(&before);
        let mark = text.len()..text.len() + marked;
        text.push_str(&after);
        if window.end < length {
            text.push_str(Excerpt::CUT);
        }
        let next_line = self.characters_of(index + 1).map_or_else(String::new, |line| {
            terminal::line(self.characters(line.start..line.start + line.len().min(LONG)))
        });
        Excerpt { line: number(index + 1), column: number(first + 1), text, mark, next_line }
    }

    /// Index of a line by its number: of the last line with content if there are fewer.
    fn line(&self, number: usize) -> usize {
        match number.checked_sub(1) {
            Some(index) if index < self.starts.len() => index,
            _ => {
                let breaks_at_end = self.text.chars().rev().take_while(|it| matches!(it, '\n' | '\r')).count();
                let last = self.count - breaks_at_end;
                self.starts.partition_point(|start| (*start as usize) < last).saturating_sub(1)
            }
        }
    }

    fn characters(&self, range: Range<usize>) -> &str {
        &self.text[self.byte(range.start)..self.byte(range.end)]
    }

    fn byte(&self, character: usize) -> usize {
        if self.count == self.text.len() {
            // All ASCII.
            return character.min(self.count);
        }
        let Some(&known) = self.bytes.get(character / STEP) else { return self.text.len() };
        let further = self.text[known..].char_indices().nth(character % STEP);
        further.map_or(self.text.len(), |(byte, _)| known + byte)
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

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
