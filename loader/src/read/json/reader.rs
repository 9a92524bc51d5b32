//! A JSON text and how far it was read: bytes, positions and white space.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{FileId, Position, Span};

/// A problem is large, and rare.
pub(super) type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// Reads one JSON value. The loops go over bytes by index: they run unoptimised, where iterators cost a call for each.
pub(super) struct Reader<'a, 't> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    pub(super) at: usize,
    pub(super) file: FileId,
    line: u32,
    /// Start of the line, plus the number of bytes that continue a character: what is between here and
    /// `at` counts characters.
    line_start: usize,
    pub(super) depth: usize,
    pub(super) nodes: &'a mut usize,
    pub(super) diagnostics: &'a mut Diagnostics,
}

impl<'a, 't> Reader<'a, 't> {
    /// A reader of `text`, which starts at `line`. It adds to `nodes` what it reads.
    pub(super) fn new(
        file: FileId,
        text: &'t str,
        line: u32,
        nodes: &'a mut usize,
        diagnostics: &'a mut Diagnostics,
    ) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0, file, line, line_start: 0, depth: 0, nodes, diagnostics }
    }

    /// The byte at `at`, 0 at the end.
    pub(super) fn byte(&self, at: usize) -> u8 {
        if at < self.bytes.len() { self.bytes[at] } else { 0 }
    }

    /// The position of the byte at `at`, which is on the current line.
    #[allow(clippy::cast_possible_truncation)] // Files are far smaller than 4 GiB.
    pub(super) fn pos(&self) -> Position {
        Position { line: self.line, column: (self.at - self.line_start) as u32 + 1 }
    }

    pub(super) fn span(&self, start: Position) -> Span {
        Span::new(self.file, start, self.pos())
    }

    /// Moves past a byte that continues a character.
    pub(super) fn skip_continuation(&mut self) {
        self.at += 1;
        self.line_start += 1;
    }

    /// Moves past white space.
    pub(super) fn skip_white_space(&mut self) {
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b' ' | b'\t' => self.at += 1,
                b'\r' if self.byte(self.at + 1) == b'\n' => self.at += 1,
                b'\n' | b'\r' => {
                    self.at += 1;
                    self.line += 1;
                    self.line_start = self.at;
                }
                _ => break,
            }
        }
    }
}
