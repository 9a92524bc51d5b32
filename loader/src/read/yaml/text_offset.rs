//! A byte of a text that is not YAML, for which a diagnostic is made.

use crate::source::{FileId, Position, Span, position_after};

/// A byte of a text.
#[derive(Clone, Copy)]
pub(super) struct TextOffset<'t> {
    pub(super) file: FileId,
    pub(super) text: &'t str,
    /// Where it is.
    pub(super) offset: usize,
}

impl<'t> TextOffset<'t> {
    /// The end of the last line with content.
    pub(super) fn at_end(file: FileId, text: &'t str) -> Self {
        Self { file, text, offset: text.trim_end().len() }
    }

    pub(super) fn to(self, offset: usize) -> Self {
        Self { offset, ..self }
    }

    pub(super) fn position(&self) -> Position {
        position_after(&self.text[..self.offset], Position::START)
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.offset..]
    }

    /// The next character of the line.
    pub(super) fn next(&self) -> Option<char> {
        self.rest().chars().next().filter(|next| !matches!(next, '\n' | '\r'))
    }

    /// Up to white space or the end of the line.
    pub(super) fn word(&self) -> &'t str {
        self.rest().split([' ', '\t', '\n', '\r']).next().unwrap_or_default()
    }

    /// Start and end of its line, without the white space there.
    pub(super) fn line(&self) -> (usize, usize) {
        let start = self.text[..self.offset].rfind(['\n', '\r']).map_or(0, |end| end + 1);
        let line = self.text[start..].split(['\n', '\r']).next().unwrap_or_default();
        (start, start + line.trim_end().len())
    }

    /// A stretch of the text, as many bytes long.
    pub(super) fn span(&self, length: usize) -> Span {
        Span::new(self.file, self.position(), self.to(self.offset + length).position())
    }

    /// The next character; nothing at the end of a line.
    pub(super) fn character(&self) -> Span {
        self.span(self.next().map_or(0, char::len_utf8))
    }
}
