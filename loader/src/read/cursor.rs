//! A position in a text, by which marks of the YAML parser are corrected.

use crate::source::Position;

/// Goes through a text from position to position, forwards.
///
/// The parser's marks are after quoted scalars' trailing comments, after the dash of some lists and in the line below a
/// block scalar; looking into the text puts them right.
pub(super) struct Cursor<'t> {
    bytes: &'t [u8],
    at: usize,
    line: u32,
    column: u32,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { bytes: text.as_bytes(), at: 0, line: 1, column: 1 }
    }

    /// The position of the character at a byte offset, and of the next one.
    pub(super) fn around(text: &'t str, offset: usize) -> (Position, Position) {
        let mut cursor = Self::new(text);
        while cursor.at < offset && !cursor.at_end() {
            cursor.step();
        }
        let start = cursor.pos();
        (start, Position { column: start.column + u32::from(!cursor.at_end()), ..start })
    }

    pub(super) fn pos(&self) -> Position {
        Position { line: self.line, column: self.column }
    }

    /// The byte at the cursor, 0 at the end.
    pub(super) fn byte(&self) -> u8 {
        if self.at < self.bytes.len() { self.bytes[self.at] } else { 0 }
    }

    /// The byte before the cursor, 0 at the start.
    pub(super) fn byte_before(&self) -> u8 {
        if self.at > 0 { self.bytes[self.at - 1] } else { 0 }
    }

    /// Number of bytes before the cursor.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// Goes to the next character.
    pub(super) fn step(&mut self) {
        let byte = self.byte();
        if byte == b'\n' || byte == b'\r' && self.bytes.get(self.at + 1) != Some(&b'\n') {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        self.at += match byte {
            0..=0x7F => 1,
            0x80..=0xDF => 2,
            0xE0..=0xEF => 3,
            _ => 4,
        };
    }

    pub(super) fn at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// Moves to a position, or to the end if the text ends before it. The cursor does not move back.
    pub(super) fn seek(&mut self, pos: Position) {
        while self.line < pos.line && !self.at_end() {
            let byte = self.bytes[self.at];
            self.at += 1;
            if byte == b'\n' || byte == b'\r' && self.byte() != b'\n' {
                self.line += 1;
                self.column = 1;
            }
        }
        while self.line == pos.line && self.column < pos.column && !self.at_end() {
            self.step();
        }
    }

    /// Moves past an anchor, a tag or both, and the comments after them, and returns the position.
    pub(super) fn skip_properties(&mut self, start: Position) -> Position {
        self.seek(start);
        while matches!(self.byte(), b'&' | b'!' | b'#') {
            let is_comment = self.byte() == b'#';
            while !matches!(self.byte(), b'\n' | b'\r' | 0) && (is_comment || !matches!(self.byte(), b' ' | b'\t')) {
                self.step();
            }
            while matches!(self.byte(), b' ' | b'\t' | b'\n' | b'\r') {
                self.step();
            }
        }
        self.pos()
    }

    /// Moves past the quoted scalar that starts at `start`, where an anchor or a tag may precede the quotes, and
    /// returns the position.
    pub(super) fn skip_quoted(&mut self, start: Position) -> Position {
        self.skip_properties(start);
        let quote = self.byte();
        self.step();
        while !self.at_end() {
            let byte = self.byte();
            self.step();
            if byte == b'\\' && quote == b'"' {
                self.step();
            } else if byte == quote {
                // Two single quotes are an escaped quote.
                if quote == b'"' || self.byte() != quote {
                    break;
                }
                self.step();
            }
        }
        self.pos()
    }

    /// Moves to `end` and returns the end of the last character from `start` that is not white space.
    pub(super) fn end_of_content(&mut self, start: Position, end: Position) -> Position {
        self.seek(start);
        let mut after = start;
        while self.pos() < end && !self.at_end() {
            let blank = matches!(self.byte(), b' ' | b'\t' | b'\n' | b'\r');
            self.step();
            if !blank {
                after = self.pos();
            }
        }
        after
    }
}
