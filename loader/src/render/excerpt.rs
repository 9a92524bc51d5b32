use std::ops::Range;

use super::harmless;
use crate::source::Pos;

/// Lines with more characters are shown in part.
const LONG: usize = 160;

/// How much of a long line is shown, and how much of that before the place.
const SHOWN: usize = 100;
const BEFORE: usize = 30;

const CUT: &str = "...";

/// One line of a file with a place in it, ready to be shown.
#[derive(Debug, PartialEq)]
pub(super) struct Excerpt {
    /// The line, from 1.
    pub(super) line: usize,
    /// What is shown of it, without control characters.
    pub(super) text: String,
    /// Bytes of `text` to mark.
    pub(super) mark: Range<usize>,
    /// Column in characters of the mark, in the file.
    pub(super) column: usize,
    /// The same in `text`; another one if the line is shown in part.
    pub(super) shown_column: usize,
}

impl Excerpt {
    /// The line of a place. Of a place of several lines, the first is shown; one behind the end of the text is moved
    /// there.
    pub(super) fn of(text: &str, start: Pos, end: Pos) -> Self {
        let (line, content) = line(text, start.line as usize);
        let characters: Vec<char> = harmless::line(content).chars().collect();
        let length = characters.len();
        let is_behind = line < start.line as usize;
        let first = if is_behind { length } else { (start.column as usize).saturating_sub(1).min(length) };
        let last = if end.line == start.line && !is_behind {
            (end.column as usize).saturating_sub(1).clamp(first, length)
        } else {
            // Up to the end of the line, without the white space there.
            let content = characters.iter().rposition(|character| !character.is_whitespace()).map_or(0, |at| at + 1);
            content.max(first)
        };
        let window = if length <= LONG {
            0..length
        } else {
            let from = first.saturating_sub(BEFORE).min(length - SHOWN);
            from..from + SHOWN
        };
        let mut shown = String::new();
        if window.start > 0 {
            shown.push_str(CUT);
        }
        let shown_column = shown.len() + first - window.start + 1;
        shown.extend(&characters[window.start..first]);
        let from = shown.len();
        let marked = first..last.min(window.end);
        shown.extend(&characters[marked.clone()]);
        let mark = from..shown.len();
        shown.extend(&characters[marked.end..window.end]);
        if window.end < length {
            shown.push_str(CUT);
        }
        Self { line, text: shown, mark, column: first + 1, shown_column }
    }

    /// Whether the whole line is shown.
    pub(super) fn is_whole(&self) -> bool {
        self.column == self.shown_column && !self.text.ends_with(CUT)
    }
}

/// A line by its number, and its number: the last line with content if there are fewer.
fn line(text: &str, number: usize) -> (usize, &str) {
    let mut last = (1, "");
    for (index, line) in lines(text).enumerate() {
        if index + 1 == number {
            return (number, line);
        }
        if !line.is_empty() {
            last = (index + 1, line);
        }
    }
    last
}

/// The lines from `first` to `last`, for showing what lies between two places.
pub(super) fn between(text: &str, lines_between: Range<usize>) -> impl Iterator<Item = String> {
    let count = lines_between.len();
    lines(text).skip(lines_between.start - 1).take(count).map(|line| {
        let start: String = line.chars().take(LONG).collect();
        harmless::line(&start)
    })
}

/// Lines end as readers count them: with `\n`, `\r\n` or `\r`.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.find(['\n', '\r']) else {
            rest = None;
            return Some(text);
        };
        let behind = if text[end..].starts_with("\r\n") { end + 2 } else { end + 1 };
        rest = Some(&text[behind..]);
        Some(&text[..end])
    })
}
