//! A reader of JSON texts.

use std::collections::BTreeSet;

use serde::de::Error as _;
use serde_json::{Error, Result};

use super::number::{Number, number_of_digits};
use super::{FromJson, Object, Value};

/// As in `serde_json`: a deeper document could overflow the stack.
const MAX_DEPTH: u32 = 128;

/// Reads JSON as RFC 8259 defines it. Floats are rounded correctly, to the last bit.
///
/// For a text that is not JSON, `serde_json` parses it again, for its error message.
#[derive(Debug)]
pub struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    /// Lists and objects that may still be opened in each other, and one more.
    levels: u32,
    /// Whether an object that has a key twice is an error.
    has_unique_keys: bool,
    /// Whether the text is not JSON. Other errors are those of the type that is decoded.
    is_invalid: bool,
}

impl<'t> Reader<'t> {
    /// A reader at the start of a text.
    pub fn new(text: &'t str) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0, levels: MAX_DEPTH, has_unique_keys: false, is_invalid: false }
    }

    /// Reads a document of any depth: the text of data that this process holds anyway.
    pub(super) fn of_any_depth(self) -> Self {
        Self { levels: u32::MAX, ..self }
    }

    /// Rejects duplicate keys of objects.
    pub(super) fn with_unique_keys(self) -> Self {
        Self { has_unique_keys: true, ..self }
    }

    /// Decodes the value that comes next, and leaves the rest of the text unread.
    ///
    /// # Errors
    ///
    /// If the next text is not JSON, or not of this type.
    pub fn value<T: FromJson>(&mut self) -> Result<T> {
        self.next_value().and_then(T::from_json).map_err(|error| self.located(error))
    }

    /// The entries of the object that comes next, up to its end or to what is not JSON.
    pub fn members(&mut self) -> Object {
        let mut members = Vec::new();
        self.next_token();
        let _ = self.entries(&mut members);
        Object::of_entries(members)
    }

    /// Decodes the one value of the text.
    ///
    /// # Errors
    ///
    /// If the text is not JSON, or not of this type.
    pub fn only_value<T: FromJson>(mut self) -> Result<T> {
        let value = self.value()?;
        self.end()?;
        Ok(value)
    }

    /// Number of bytes read.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Checks that nothing follows.
    ///
    /// # Errors
    ///
    /// If something follows.
    pub fn end(&mut self) -> Result<()> {
        match self.next_token() {
            0 if self.at == self.bytes.len() => Ok(()),
            _ => {
                let error = self.invalid();
                Err(self.located(error))
            }
        }
    }

    /// The error of a text that is not JSON here. [`Self::located`] replaces its message.
    fn invalid(&mut self) -> Error {
        self.is_invalid = true;
        Error::custom("trailing characters")
    }

    /// An error with its place.
    fn located(&self, error: Error) -> Error {
        if error.line() != 0 {
            return error;
        }
        if self.is_invalid
            && let Err(error) = serde_json::from_str::<serde_json::Value>(self.text)
        {
            return error;
        }
        let before = &self.bytes[..self.at.min(self.bytes.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count();
        Error::custom(format_args!("{error} at line {line} column {column}"))
    }

    /// The byte at `at`, 0 at the end.
    fn byte(&self, at: usize) -> u8 {
        if at < self.bytes.len() { self.bytes[at] } else { 0 }
    }

    /// Moves past white space to the byte that comes next, 0 at the end.
    fn next_token(&mut self) -> u8 {
        loop {
            match self.byte(self.at) {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                byte => return byte,
            }
        }
    }

    fn word(&mut self, word: &str) -> Result<()> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            Ok(())
        } else {
            Err(self.invalid())
        }
    }

    fn number(&mut self) -> Result<Number> {
        let start = self.at;
        self.at += usize::from(self.byte(self.at) == b'-');
        let first = self.at;
        self.digits()?;
        if self.byte(first) == b'0' && self.at > first + 1 {
            return Err(self.invalid());
        }
        let mut is_integer = true;
        if self.byte(self.at) == b'.' {
            is_integer = false;
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.byte(self.at), b'e' | b'E') {
            is_integer = false;
            self.at += 1;
            self.at += usize::from(matches!(self.byte(self.at), b'-' | b'+'));
            self.digits()?;
        }
        number_of_digits(&self.text[start..self.at], is_integer).ok_or_else(|| self.invalid())
    }

    /// Moves past one digit or more.
    fn digits(&mut self) -> Result<()> {
        let start = self.at;
        while self.byte(self.at).is_ascii_digit() {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(self.invalid()) }
    }

    /// The text of a string, whose opening quote comes next.
    fn string(&mut self) -> Result<String> {
        self.at += 1;
        let mut start = self.at;
        let mut text = String::new();
        loop {
            self.at = end_of_plain(self.bytes, self.at);
            let piece = &self.text[start..self.at];
            match self.byte(self.at) {
                b'"' => {
                    self.at += 1;
                    text.push_str(piece);
                    return Ok(text);
                }
                b'\\' => {
                    text.push_str(piece);
                    text.push(self.escape()?);
                    start = self.at;
                }
                _ => return Err(self.invalid()),
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        let character = match self.byte(self.at + 1) {
            byte @ (b'"' | b'\\' | b'/') => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{C}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let code = self.code_unit()?;
                let pair = [code, if matches!(code, 0xD800..0xDC00) { self.code_unit()? } else { 0 }];
                let character = char::decode_utf16(pair).next();
                return character.and_then(|character| character.ok()).ok_or_else(|| self.invalid());
            }
            _ => return Err(self.invalid()),
        };
        self.at += 2;
        Ok(character)
    }

    /// The code of `\uXXXX`.
    fn code_unit(&mut self) -> Result<u16> {
        let digits = self.text.get(self.at..self.at + 6).and_then(|escape| escape.strip_prefix("\\u"));
        self.at += 6;
        digits
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .and_then(|digits| u16::from_str_radix(digits, 16).ok())
            .ok_or_else(|| self.invalid())
    }

    /// Reads the next value.
    fn next_value(&mut self) -> Result<Value> {
        Ok(match self.next_token() {
            b'"' => Value::String(self.string()?),
            b'{' => {
                let mut entries = Vec::new();
                self.entries(&mut entries)?;
                Value::Object(Object::of_entries(entries))
            }
            b'[' => {
                let mut items = Vec::new();
                self.open()?;
                while self.has_next(b']', items.is_empty())? {
                    items.push(self.next_value()?);
                }
                Value::Array(items)
            }
            b'n' => self.word("null").map(|()| Value::Null)?,
            b't' => self.word("true").map(|()| Value::Bool(true))?,
            b'f' => self.word("false").map(|()| Value::Bool(false))?,
            b'-' | b'0'..=b'9' => Value::Number(self.number()?),
            _ => return Err(self.invalid()),
        })
    }

    /// Reads the entries of an object, whose brace comes next.
    fn entries(&mut self, entries: &mut Vec<(String, Value)>) -> Result<()> {
        let mut keys = BTreeSet::new();
        self.open()?;
        while self.has_next(b'}', entries.is_empty())? {
            if self.next_token() != b'"' {
                return Err(self.invalid());
            }
            let key = self.string()?;
            if self.next_token() != b':' {
                return Err(self.invalid());
            }
            self.at += 1;
            let value = self.next_value()?;
            if self.has_unique_keys && !keys.insert(key.clone()) {
                return Err(Error::custom(format_args!("an object has the key `{key}` twice")));
            }
            entries.push((key, value));
        }
        Ok(())
    }

    /// Begins a list or an object.
    fn open(&mut self) -> Result<()> {
        self.at += 1;
        self.levels -= 1;
        if self.levels == 0 { Err(self.invalid()) } else { Ok(()) }
    }

    /// Moves to the next item or entry, or past the bracket that ends them.
    fn has_next(&mut self, bracket: u8, is_first: bool) -> Result<bool> {
        let mut next = self.next_token();
        if next == bracket {
            self.levels += 1;
            self.at += 1;
            return Ok(false);
        }
        if !is_first {
            if next != b',' {
                return Err(self.invalid());
            }
            self.at += 1;
            next = self.next_token();
        }
        if next == bracket { Err(self.invalid()) } else { Ok(true) }
    }
}

/// The first byte from `at` that is a quote, a backslash or a control character. Looks at eight bytes at once, also unoptimised.
fn end_of_plain(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    const CONTROL: u64 = ONES * 0x20;
    const QUOTE: u64 = ONES * b'"' as u64;
    const BACKSLASH: u64 = ONES * b'\\' as u64;
    while let Some(eight) = bytes.get(at..at + 8).and_then(|eight| eight.try_into().ok()).map(u64::from_le_bytes) {
        let quote = eight ^ QUOTE;
        let backslash = eight ^ BACKSLASH;
        let found = (eight.wrapping_sub(CONTROL) & !eight
            | quote.wrapping_sub(ONES) & !quote
            | backslash.wrapping_sub(ONES) & !backslash)
            & HIGH;
        if found != 0 {
            // The lowest byte found is exact: a borrow reaches only those above it.
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while at < bytes.len() && !matches!(bytes[at], b'"' | b'\\' | 0..0x20) {
        at += 1;
    }
    at
}
