//! Lines of a file by their number, and the part of a line that is shown with a diagnostic.
//!
//! `annotate-snippets` would do this at rendering, from the whole file; a diagnostic has to be shown without it.

use std::ops::Range;
use std::sync::Arc;

use evalsuite_schema::diagnostics::{Excerpt, Position, terminal};

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
