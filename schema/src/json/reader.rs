//! A deserializer of JSON texts.

use std::borrow::Cow;

use serde::de::value::CowStrDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Result};

use super::number::{Number, number_of_digits};

/// As in `serde_json`: a deeper document could overflow the stack.
const MAX_DEPTH: u32 = 128;

/// Reads JSON as RFC 8259 defines it. Floats are rounded correctly, to the last bit.
///
/// For a text that is not JSON, `serde_json` parses it again, for its error message.
#[derive(Debug)]
pub struct Reader<'de> {
    text: &'de str,
    bytes: &'de [u8],
    at: usize,
    /// Lists and objects that may still be opened in each other, and one more.
    levels: u32,
    /// Whether the text is not JSON. Other errors are those of the type that is decoded.
    is_invalid: bool,
}

impl<'de> Reader<'de> {
    /// A reader at the start of a text.
    pub fn new(text: &'de str) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0, levels: MAX_DEPTH, is_invalid: false }
    }

    /// Reads a document of any depth: the text of data that this process holds anyway.
    pub(super) fn of_any_depth(self) -> Self {
        Self { levels: u32::MAX, ..self }
    }

    /// Decodes the value that comes next, and leaves the rest of the text unread.
    ///
    /// # Errors
    ///
    /// If the next text is not JSON, or not of this type.
    pub fn value<T: Deserialize<'de>>(&mut self) -> Result<T> {
        T::deserialize(&mut *self).map_err(|error| self.located(error))
    }

    /// Decodes the one value of the text.
    ///
    /// # Errors
    ///
    /// If the text is not JSON, or not of this type.
    pub fn only_value<T: Deserialize<'de>>(mut self) -> Result<T> {
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
    fn string(&mut self) -> Result<Cow<'de, str>> {
        self.at += 1;
        let mut start = self.at;
        let mut text = String::new();
        loop {
            self.at = end_of_plain(self.bytes, self.at);
            let piece = &self.text[start..self.at];
            match self.byte(self.at) {
                b'"' => {
                    self.at += 1;
                    if text.is_empty() {
                        return Ok(Cow::Borrowed(piece));
                    }
                    text.push_str(piece);
                    return Ok(Cow::Owned(text));
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

    /// Begins a list or an object.
    fn open(&mut self) -> Result<()> {
        self.at += 1;
        self.levels -= 1;
        if self.levels == 0 { Err(self.invalid()) } else { Ok(()) }
    }

    /// Ends a list or an object, whose visitor has seen everything or not.
    fn close(&mut self, bracket: u8) -> Result<()> {
        self.levels += 1;
        if self.next_token() != bracket {
            return Err(self.invalid());
        }
        self.at += 1;
        Ok(())
    }

    fn seq<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.open()?;
        let value = visitor.visit_seq(Parts { reader: self, bracket: b']', is_first: true });
        let closed = self.close(b']');
        let value = value?;
        closed.map(|()| value)
    }

    fn map<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.open()?;
        let value = visitor.visit_map(Parts { reader: self, bracket: b'}', is_first: true });
        let closed = self.close(b'}');
        let value = value?;
        closed.map(|()| value)
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

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let value = match self.next_token() {
            b'"' => match self.string()? {
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                Cow::Owned(text) => visitor.visit_string(text),
            },
            b'{' => self.map(visitor),
            b'[' => self.seq(visitor),
            b'n' => self.word("null").and_then(|()| visitor.visit_unit()),
            b't' => self.word("true").and_then(|()| visitor.visit_bool(true)),
            b'f' => self.word("false").and_then(|()| visitor.visit_bool(false)),
            b'-' | b'0'..=b'9' => self.number()?.visit(visitor),
            _ => Err(self.invalid()),
        };
        value.map_err(|error| self.located(error))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.next_token() == b'n' {
            self.word("null")?;
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value> {
        match name {
            VALUE => match self.next_token() {
                b'-' | b'0'..=b'9' => {
                    let value = self.number()?.visit_exactly(visitor);
                    value.map_err(|error| self.located(error))
                }
                _ => self.deserialize_any(visitor),
            },
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.next_token() {
            b'"' => {
                let variant: CowStrDeserializer<'de, Error> = self.string()?.into_deserializer();
                visitor.visit_enum(variant)
            }
            b'{' => {
                self.open()?;
                let value = visitor.visit_enum(Variant(self))?;
                self.close(b'}')?;
                Ok(value)
            }
            _ => Err(Error::custom("expected value")),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// Items of a list, or entries of an object.
struct Parts<'r, 'de> {
    reader: &'r mut Reader<'de>,
    bracket: u8,
    is_first: bool,
}

impl Parts<'_, '_> {
    /// Moves to the next part, if there is one.
    fn has_next(&mut self) -> Result<bool> {
        let is_first = std::mem::replace(&mut self.is_first, false);
        match self.reader.next_token() {
            byte if byte == self.bracket => return Ok(false),
            _ if is_first => {}
            b',' => {
                self.reader.at += 1;
                if self.reader.next_token() == self.bracket {
                    return Err(self.reader.invalid());
                }
            }
            _ => return Err(self.reader.invalid()),
        }
        Ok(true)
    }
}

impl<'de> SeqAccess<'de> for Parts<'_, 'de> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        if self.has_next()? { seed.deserialize(&mut *self.reader).map(Some) } else { Ok(None) }
    }
}

impl<'de> MapAccess<'de> for Parts<'_, 'de> {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        if !self.has_next()? {
            return Ok(None);
        }
        if self.reader.next_token() != b'"' {
            return Err(self.reader.invalid());
        }
        seed.deserialize(Key(self.reader.string()?)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        if self.reader.next_token() != b':' {
            return Err(self.reader.invalid());
        }
        self.reader.at += 1;
        seed.deserialize(&mut *self.reader)
    }
}

/// The name by which a value asks for all digits of a number.
pub(super) const VALUE: &str = "$evalsuite::Value";

/// A key, which is a text or a number in quotes.
pub(super) struct Key<'de>(pub(super) Cow<'de, str>);

macro_rules! numbers_in_quotes {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            let mut reader = Reader::new(&self.0);
            match reader.number() {
                Ok(number) if reader.at == self.0.len() => number.visit(visitor),
                _ => self.deserialize_any(visitor),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    numbers_in_quotes! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16 deserialize_u32
        deserialize_u64 deserialize_f32 deserialize_f64
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let variant: CowStrDeserializer<'de, Error> = self.0.into_deserializer();
        visitor.visit_enum(variant)
    }

    forward_to_deserialize_any! {
        bool i128 u128 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
        ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Error> for Key<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The variant of an enum whose data follows.
struct Variant<'r, 'de>(&'r mut Reader<'de>);

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self)> {
        if self.0.next_token() != b'"' {
            return Err(self.0.invalid());
        }
        let variant = seed.deserialize(Key(self.0.string()?))?;
        if self.0.next_token() != b':' {
            return Err(self.0.invalid());
        }
        self.0.at += 1;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        <()>::deserialize(self.0)
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value> {
        seed.deserialize(self.0)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _length: usize, visitor: V) -> Result<V::Value> {
        self.0.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _fields: &'static [&'static str], visitor: V) -> Result<V::Value> {
        self.0.deserialize_any(visitor)
    }
}
