//! JSON numbers.

use evalsuite_schema::json::{Number, number_of_digits};

use super::reader::{Reader, Result};
use super::syntax_error;

impl Reader<'_, '_> {
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

    fn digits(&mut self, start: crate::source::Position, first: usize, otherwise: &'static str) -> Result<()> {
        if !self.byte(self.at).is_ascii_digit() {
            return syntax_error::bad_number(self, start, first, otherwise);
        }
        while self.byte(self.at).is_ascii_digit() {
            self.at += 1;
        }
        Ok(())
    }
}
