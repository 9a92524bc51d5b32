//! JSON strings and numbers.

use evalsuite_schema::json::{Number, number_of_digits};

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

    /// The number that comes next: `-? ( 0 | [1-9][0-9]* ) ( \. [0-9]+ )? ( [eE] [-+]? [0-9]+ )?`.
    pub(super) fn number(&mut self) -> Result<Number> {
        let start = self.pos();
        let first = self.at;
        let mut is_float = false;
        if self.byte(self.at) == b'-' {
            self.at += 1;
        }
        if self.byte(self.at) == b'0' {
            self.at += 1;
            if self.byte(self.at).is_ascii_digit() {
                return syntax_error::bad_number(self, start, first, "numbers have no leading zeros");
            }
        } else {
            self.digits(start, first, "a digit is missing after `-`")?;
        }
        if self.byte(self.at) == b'.' {
            is_float = true;
            self.at += 1;
            self.digits(start, first, "a digit is missing after the decimal point")?;
        }
        if matches!(self.byte(self.at), b'e' | b'E') {
            is_float = true;
            self.at += 1;
            if matches!(self.byte(self.at), b'-' | b'+') {
                self.at += 1;
            }
            self.digits(start, first, "a digit is missing in the exponent")?;
        }
        if self.byte(self.at).is_ascii_alphanumeric() || matches!(self.byte(self.at), b'.' | b'_') {
            return syntax_error::bad_number(self, start, first, "not a number as JSON writes it");
        }
        let text = &self.text[first..self.at];
        number_of_digits(text, !is_float)
            .map_or_else(|| syntax_error::bad_number(self, start, first, "the number is too large"), Ok)
    }

    fn digits(&mut self, start: Position, first: usize, otherwise: &'static str) -> Result<()> {
        if !self.byte(self.at).is_ascii_digit() {
            return syntax_error::bad_number(self, start, first, otherwise);
        }
        while self.byte(self.at).is_ascii_digit() {
            self.at += 1;
        }
        Ok(())
    }
}
