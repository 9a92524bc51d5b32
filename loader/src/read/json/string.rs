//! JSON strings.

use super::reader::{Reader, Result};
use super::syntax_error;
use crate::source::Position;

impl Reader<'_, '_> {
    /// The text of a string, whose opening quote comes next.
    pub(super) fn string(&mut self) -> Result<String> {
        let start = self.pos();
        self.at += 1;
        let mut text = String::new();
        let mut copied = self.at;
        loop {
            match self.byte(self.at) {
                b'"' => break,
                b'\\' => {
                    text.push_str(&self.text[copied..self.at]);
                    text.push(self.escape(start)?);
                    copied = self.at;
                }
                0..0x20 => return syntax_error::in_string(self, start),
                0x80..0xC0 => self.skip_continuation(),
                _ => self.at += 1,
            }
        }
        text.push_str(&self.text[copied..self.at]);
        self.at += 1;
        Ok(text)
    }

    fn escape(&mut self, string: Position) -> Result<char> {
        let start = self.pos();
        let character = match self.byte(self.at + 1) {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{C}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.code_point(start, string),
            _ => return syntax_error::unknown_escape(self, start, string),
        };
        self.at += 2;
        Ok(character)
    }

    /// The character of `\uXXXX`, or of two of these that are a surrogate pair.
    fn code_point(&mut self, start: Position, string: Position) -> Result<char> {
        let mut code = self.hexadecimal(start, string)?;
        if matches!(code, 0xD800..0xDC00) && self.byte(self.at) == b'\\' && self.byte(self.at + 1) == b'u' {
            let second = self.pos();
            let low = self.hexadecimal(second, string)?;
            if !matches!(low, 0xDC00..0xE000) {
                return syntax_error::lone_surrogate(self.span(start));
            }
            code = 0x1_0000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        }
        char::from_u32(code).map_or_else(|| syntax_error::lone_surrogate(self.span(start)), Ok)
    }

    fn hexadecimal(&mut self, start: Position, string: Position) -> Result<u32> {
        self.at += 2;
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = char::from(self.byte(self.at)).to_digit(16) else {
                return syntax_error::bad_code_point(self, start, string);
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }
}
