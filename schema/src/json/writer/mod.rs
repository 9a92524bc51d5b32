//! Writes data as JSON. All records are written by this one serializer.
//!
//! With `serde_json`, each spacing, destination and change of texts is a separate serializer. Their code for every
//! record would be linked into every test program, without optimisation. This serializer writes through a
//! [`fmt::Formatter`] of the standard library, which is optimised in every program.
//!
//! The `serde` serializer.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::{Error, Number, Result};

use super::ToJson;
use crate::json::number;
use crate::sorting::sort;

/// The name under which a place in a file is serialized.
const LOCATION: &str = "$evalsuite_schema::diagnostics::private::Location";

/// Changes a text.
pub type Change<'c> = &'c dyn for<'t> Fn(&'t str) -> Cow<'t, str>;

/// How JSON is laid out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spacing {
    /// In one line.
    Compact,
    /// With line breaks, at this depth of indentation.
    Pretty(usize),
    /// In one line, with sorted keys and without places in files: equal for data with equal meaning.
    Canonical,
}

/// Data as JSON, with every text in the data changed: values and keys of maps, but neither the names of fields and variants nor
/// numbers.
///
/// # Errors
///
/// If the data is not JSON.
pub fn written(data: &dyn ToJson, spacing: Spacing, change: Option<Change<'_>>) -> Result<String> {
    json_of(&|writer| data.write(writer), spacing, change, Texts::Quoted)
}

/// Writes data of any type. The rest of the serializer is compiled once, and not once for each type.
pub(super) type WriteData<'d> = &'d dyn Fn(&mut JsonWriter<'_>) -> Result<()>;

pub(super) fn json_of(
    data: WriteData<'_>,
    spacing: Spacing,
    change: Option<Change<'_>>,
    texts: Texts,
) -> Result<String> {
    let document = JsonDocument { data, spacing, change, texts, error: Cell::new(None) };
    let json = format!("{document}");
    document.error.into_inner().map_or(Ok(json), Err)
}

struct JsonDocument<'d> {
    data: WriteData<'d>,
    spacing: Spacing,
    change: Option<Change<'d>>,
    texts: Texts,
    error: Cell<Option<Error>>,
}

impl fmt::Display for JsonDocument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = JsonWriter { out: f, spacing: self.spacing, change: self.change, texts: self.texts };
        if let Err(error) = (self.data)(&mut writer) {
            self.error.set(Some(error));
        }
        Ok(())
    }
}

/// How texts are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Texts {
    Quoted,
    /// As the key of a map, which has to be a text or number. It is quoted later.
    Key,
    /// As the digits of a number of any length.
    Digits,
}

/// JSON as it is being written.
pub struct JsonWriter<'d> {
    out: &'d mut dyn fmt::Write,
    spacing: Spacing,
    change: Option<Change<'d>>,
    texts: Texts,
}

impl<'d> JsonWriter<'d> {
    fn raw(&mut self, json: &str) -> Result<()> {
        self.out.write_str(json).map_err(Error::custom)
    }

    fn display(&mut self, value: &dyn fmt::Display) -> Result<()> {
        write!(self.out, "{value}").map_err(Error::custom)
    }

    fn text(&mut self, text: &str) -> Result<()> {
        // Rust escapes what JSON does, and more.
        if is_plain(text) {
            return self.name(text);
        }
        let escaped = format!("{text:?}");
        if has_escapes_of_json(&escaped) { self.raw(&escaped) } else { self.raw(&serde_json::to_string(text)?) }
    }

    /// The name of a variant, or another text without escapes.
    fn name(&mut self, name: &str) -> Result<()> {
        self.raw("\"")?;
        self.raw(name)?;
        self.raw("\"")
    }

    /// Begins a line where there are lines, after a comma or without one.
    fn break_line(&mut self, after_comma: bool) -> Result<()> {
        const LINE: &str = ",\n                                ";
        let start = usize::from(!after_comma);
        let width = if let Spacing::Pretty(depth) = self.spacing { 2 + 2 * depth } else { 1 };
        self.raw(&LINE[start..width.min(LINE.len())])?;
        for _ in LINE.len()..width {
            self.raw(" ")?;
        }
        Ok(())
    }

    fn separate_name(&mut self) -> Result<()> {
        self.raw(if let Spacing::Pretty(_) = self.spacing { ": " } else { ":" })
    }

    /// The name of a field or variant, which has no escapes, before its value.
    fn name_of_value(&mut self, name: &str) -> Result<()> {
        self.raw("\"")?;
        self.raw(name)?;
        self.raw(if let Spacing::Pretty(_) = self.spacing { "\": " } else { "\":" })
    }

    fn indent(&mut self) {
        if let Spacing::Pretty(depth) = &mut self.spacing {
            *depth += 1;
        }
    }

    pub(super) fn open<'w>(&'w mut self, bracket: &str, end: &'static str) -> Result<Parts<'w, 'd>> {
        self.check_no_key()?;
        self.raw(bracket)?;
        self.indent();
        Ok(Parts::new(self, end))
    }

    fn check_no_key(&self) -> Result<()> {
        if self.texts == Texts::Key { Err(Error::custom("key must be a string")) } else { Ok(()) }
    }

    /// Begins the object of a variant with data.
    pub(super) fn open_variant(&mut self, variant: &str) -> Result<()> {
        self.check_no_key()?;
        self.raw("{")?;
        self.indent();
        self.break_line(false)?;
        self.name_of_value(variant)
    }

    /// Ends an array or object.
    pub(super) fn close(&mut self, is_empty: bool, bracket: &str) -> Result<()> {
        if let Spacing::Pretty(depth) = &mut self.spacing {
            *depth -= 1;
        }
        if !is_empty {
            self.break_line(false)?;
        }
        self.raw(bracket)
    }
}

/// Whether a text needs no escapes in Rust's notation: it contains no quotes, backslashes or invisible characters. Code
/// of the standard library checks this, because it is optimised in every program.
pub fn is_plain(text: &str) -> bool {
    let mut length = Length(0);
    write!(length, "{text:?}").is_ok() && length.0 == text.len() + 2
}

/// Length of what is written.
struct Length(usize);

impl fmt::Write for Length {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

/// Whether a text in Rust's notation is the same in JSON's.
fn has_escapes_of_json(escaped: &str) -> bool {
    let mut after_backslashes = escaped.split('\\').skip(1);
    while let Some(text) = after_backslashes.next() {
        match text.as_bytes().first() {
            Some(b'n' | b'r' | b't' | b'"') => {}
            // Text between two backslashes, of which the first escapes the second.
            None => drop(after_backslashes.next()),
            Some(_) => return false,
        }
    }
    true
}

/// An array or object that is being written.
pub struct Parts<'w, 'd> {
    writer: &'w mut JsonWriter<'d>,
    /// Its closing bracket, and that of the object of its variant. Empty for what is no array or object in JSON.
    end: &'static str,
    is_empty: bool,
    /// Keys so far, of a map whose texts are changed: two of them may become the same.
    keys: Option<BTreeSet<String>>,
    /// Keys and values that are written when the object ends, in [`Spacing::Canonical`].
    entries: Option<Vec<(String, String)>>,
    /// How texts around it are written.
    around: Texts,
}

impl<'w, 'd> Parts<'w, 'd> {
    fn new(writer: &'w mut JsonWriter<'d>, end: &'static str) -> Self {
        let around = writer.texts;
        Self { writer, end, is_empty: true, keys: None, entries: None, around }
    }

    /// How texts are changed.
    pub(super) fn change(&self) -> Option<Change<'d>> {
        self.writer.change
    }

    /// The writer, for an item.
    pub(super) fn writer(&mut self) -> &mut JsonWriter<'d> {
        self.writer
    }

    pub(super) fn next(&mut self) -> Result<()> {
        let is_first = std::mem::replace(&mut self.is_empty, false);
        self.writer.break_line(!is_first)
    }

    pub(super) fn field(&mut self, name: &str, value: WriteData<'_>) -> Result<()> {
        if self.end.is_empty() {
            return if self.writer.texts == Texts::Digits { value(self.writer) } else { Ok(()) };
        }
        if self.writer.spacing == Spacing::Canonical {
            self.entries.get_or_insert_default().push((name.to_owned(), String::new()));
            return self.value(value);
        }
        self.next()?;
        self.writer.name_of_value(name)?;
        value(self.writer)
    }

    /// A key of a map, which no other key of the map becomes.
    pub(super) fn key(&mut self, key: String) -> Result<()> {
        if self.writer.spacing == Spacing::Canonical {
            self.entries.get_or_insert_default().push((key, String::new()));
            return Ok(());
        }
        self.next()?;
        if self.writer.change.is_none() {
            return self.writer.text(&key);
        }
        let keys = self.keys.get_or_insert_default();
        let mut unique = key.clone();
        let mut number = 1_usize;
        while !keys.insert(unique.clone()) {
            number += 1;
            unique = format!("{key} ({number})");
        }
        self.writer.text(&unique)
    }

    /// The value of the field or key that was written last.
    pub(super) fn value(&mut self, value: WriteData<'_>) -> Result<()> {
        if let Some((_, entry)) = self.entries.as_mut().and_then(|entries| entries.last_mut()) {
            *entry = json_of(value, self.writer.spacing, self.writer.change, Texts::Quoted)?;
            return Ok(());
        }
        self.writer.separate_name()?;
        value(self.writer)
    }

    pub(super) fn close(mut self) -> Result<()> {
        if let Some(mut entries) = self.entries.take() {
            sort(&mut entries);
            for (key, value) in entries.iter().filter(|(_, value)| !value.is_empty()) {
                self.next()?;
                self.writer.text(key)?;
                self.writer.separate_name()?;
                self.writer.raw(value)?;
            }
        }
        self.writer.texts = self.around;
        let (bracket, of_variant) = self.end.split_at(self.end.len().min(1));
        if !bracket.is_empty() {
            self.writer.close(self.is_empty, bracket)?;
        }
        if !of_variant.is_empty() {
            self.writer.close(false, of_variant)?;
        }
        Ok(())
    }
}

macro_rules! display {
    ($($method:ident: $type:ty),* $(,)?) => {
        $(fn $method(self, value: $type) -> Result<()> {
            self.display(&value)
        })*
    };
}

impl<'w, 'd> Serializer for &'w mut JsonWriter<'d> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Parts<'w, 'd>;
    type SerializeTuple = Parts<'w, 'd>;
    type SerializeTupleStruct = Parts<'w, 'd>;
    type SerializeTupleVariant = Parts<'w, 'd>;
    type SerializeMap = Parts<'w, 'd>;
    type SerializeStruct = Parts<'w, 'd>;
    type SerializeStructVariant = Parts<'w, 'd>;

    display! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128,
    }

    fn serialize_f32(self, value: f32) -> Result<()> {
        self.raw(&serde_json::to_string(&value)?)
    }

    fn serialize_f64(self, value: f64) -> Result<()> {
        match Number::from_f64(value) {
            Some(number) => self.display(&number),
            None => self.serialize_unit(),
        }
    }

    fn serialize_char(self, value: char) -> Result<()> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<()> {
        let text = match self.change {
            Some(change) if self.texts != Texts::Digits => change(text),
            _ => Cow::Borrowed(text),
        };
        if self.texts == Texts::Quoted { self.text(&text) } else { self.raw(&text) }
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<()> {
        bytes.serialize(self)
    }

    fn serialize_none(self) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<()> {
        self.check_no_key()?;
        self.raw("null")
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<()> {
        if self.texts == Texts::Key { self.raw(variant) } else { self.name(variant) }
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        self.open_variant(variant)?;
        value.serialize(&mut *self)?;
        self.close(false, "}")
    }

    fn serialize_seq(self, _length: Option<usize>) -> Result<Parts<'w, 'd>> {
        self.open("[", "]")
    }

    fn serialize_tuple(self, _length: usize) -> Result<Parts<'w, 'd>> {
        self.open("[", "]")
    }

    fn serialize_tuple_struct(self, _name: &'static str, _length: usize) -> Result<Parts<'w, 'd>> {
        self.open("[", "]")
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _length: usize,
    ) -> Result<Parts<'w, 'd>> {
        self.open_variant(variant)?;
        self.open("[", "]}")
    }

    fn serialize_map(self, _length: Option<usize>) -> Result<Parts<'w, 'd>> {
        self.open("{", "}")
    }

    fn serialize_struct(self, name: &'static str, _length: usize) -> Result<Parts<'w, 'd>> {
        let is_left_out = name == LOCATION && self.spacing == Spacing::Canonical;
        if name != number::NAME && !is_left_out {
            return self.open("{", "}");
        }
        let parts = Parts::new(self, "");
        if name == number::NAME {
            parts.writer.texts = Texts::Digits;
        }
        Ok(parts)
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _length: usize,
    ) -> Result<Parts<'w, 'd>> {
        self.open_variant(variant)?;
        self.open("{", "}}")
    }
}

macro_rules! elements {
    ($($trait:ident: $method:ident),* $(,)?) => {
        $(impl $trait for Parts<'_, '_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.next()?;
                value.serialize(&mut *self.writer)
            }

            fn end(self) -> Result<()> {
                self.close()
            }
        })*
    };
}

macro_rules! fields {
    ($($trait:ident),* $(,)?) => {
        $(impl $trait for Parts<'_, '_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<()> {
                self.field(name, &|writer| value.serialize(writer))
            }

            fn end(self) -> Result<()> {
                self.close()
            }
        })*
    };
}

elements! {
    SerializeSeq: serialize_element, SerializeTuple: serialize_element, SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field,
}
fields! { SerializeStruct, SerializeStructVariant }

impl SerializeMap for Parts<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        let key = json_of(&|writer| key.serialize(writer), Spacing::Compact, self.writer.change, Texts::Key)?;
        self.key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.value(&|writer| value.serialize(writer))
    }

    fn end(self) -> Result<()> {
        self.close()
    }
}
