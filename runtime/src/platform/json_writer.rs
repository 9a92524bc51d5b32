//! Writes data as JSON. All records are written by this one serializer.
//!
//! `serde_json` has a serializer per layout, per destination and per way to change texts. The code of every record for each of
//! them is linked into every test program, where it looks at texts byte by byte without optimisation. This one writes
//! through a [`fmt::Formatter`]: its code and its string are the standard library's, which is optimised in every program.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt;

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::{Error, Number, Result};

/// Changes a text.
pub(crate) type Change<'c> = &'c dyn for<'t> Fn(&'t str) -> Cow<'t, str>;

/// Name of the struct as which numbers of any length serialize, with the feature `arbitrary_precision` of `serde_json`.
const NUMBER: &str = "$serde_json::private::Number";
/// Name of the struct that is a place in a file of a suite.
const LOCATION: &str = "Location";

/// How JSON is laid out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Layout {
    /// In one line.
    Compact,
    /// With line breaks, at this depth of indentation.
    Pretty(usize),
    /// In one line, with sorted keys and without places in files: the same for whatever means the same.
    Canonical,
}

/// Data as JSON, with every text in the data changed: values and keys of maps, but neither the names of fields and variants nor
/// numbers.
///
/// # Errors
///
/// If the data is not JSON.
pub(crate) fn written<T: Serialize + ?Sized>(data: &T, layout: Layout, change: Option<Change<'_>>) -> Result<String> {
    json_of(&|writer| data.serialize(writer), layout, change, Texts::Quoted)
}

/// Writes data of any type. The rest of the serializer is compiled once, and not once for each type.
type WriteData<'d> = &'d dyn Fn(&mut JsonWriter<'_>) -> Result<()>;

fn json_of(data: WriteData<'_>, layout: Layout, change: Option<Change<'_>>, texts: Texts) -> Result<String> {
    let document = Document { data, layout, change, texts, error: Cell::new(None) };
    let json = format!("{document}");
    document.error.into_inner().map_or(Ok(json), Err)
}

struct Document<'d> {
    data: WriteData<'d>,
    layout: Layout,
    change: Option<Change<'d>>,
    texts: Texts,
    error: Cell<Option<Error>>,
}

impl fmt::Display for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = JsonWriter { out: f, layout: self.layout, change: self.change, texts: self.texts };
        if let Err(error) = (self.data)(&mut writer) {
            self.error.set(Some(error));
        }
        Ok(())
    }
}

/// How texts are written.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Texts {
    Quoted,
    /// As the key of a map, which has to be a text or number. It is quoted later.
    Key,
    /// As the digits of a [`NUMBER`].
    Digits,
}

/// JSON as it is being written.
struct JsonWriter<'d> {
    out: &'d mut dyn fmt::Write,
    layout: Layout,
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
        let escaped = format!("{text:?}");
        if escaped.len() == text.len() + 2 || has_escapes_of_json(&escaped) {
            self.raw(&escaped)
        } else {
            self.raw(&serde_json::to_string(text)?)
        }
    }

    /// The name of a field or variant: an identifier, which has no escapes.
    fn name(&mut self, name: &str) -> Result<()> {
        self.raw("\"")?;
        self.raw(name)?;
        self.raw("\"")
    }

    fn break_line(&mut self) -> Result<()> {
        const LINE: &str = "\n                                ";
        let Layout::Pretty(depth) = self.layout else { return Ok(()) };
        let width = 1 + 2 * depth;
        self.raw(&LINE[..width.min(LINE.len())])?;
        for _ in LINE.len()..width {
            self.raw(" ")?;
        }
        Ok(())
    }

    fn separate_name(&mut self) -> Result<()> {
        self.raw(if let Layout::Pretty(_) = self.layout { ": " } else { ":" })
    }

    fn indent(&mut self) {
        if let Layout::Pretty(depth) = &mut self.layout {
            *depth += 1;
        }
    }

    fn open<'w>(&'w mut self, bracket: &str, end: &'static str) -> Result<Parts<'w, 'd>> {
        self.check_no_key()?;
        self.raw(bracket)?;
        self.indent();
        Ok(Parts::new(self, end))
    }

    fn check_no_key(&self) -> Result<()> {
        if self.texts == Texts::Key { Err(Error::custom("key must be a string")) } else { Ok(()) }
    }

    /// Begins the object of a variant with data.
    fn open_variant(&mut self, variant: &str) -> Result<()> {
        self.check_no_key()?;
        self.raw("{")?;
        self.indent();
        self.break_line()?;
        self.name(variant)?;
        self.separate_name()
    }

    /// Ends an array or object.
    fn close(&mut self, is_empty: bool, bracket: &str) -> Result<()> {
        if let Layout::Pretty(depth) = &mut self.layout {
            *depth -= 1;
        }
        if !is_empty {
            self.break_line()?;
        }
        self.raw(bracket)
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
struct Parts<'w, 'd> {
    writer: &'w mut JsonWriter<'d>,
    /// Its closing bracket, and that of the object of its variant. Empty for what is no array or object in JSON.
    end: &'static str,
    is_empty: bool,
    /// Keys so far, of a map whose texts are changed: two of them may become the same.
    keys: BTreeSet<String>,
    /// Keys and values that are written when the object ends, in [`Layout::Canonical`].
    entries: Vec<(String, String)>,
    /// How texts around it are written.
    around: Texts,
}

impl<'w, 'd> Parts<'w, 'd> {
    fn new(writer: &'w mut JsonWriter<'d>, end: &'static str) -> Self {
        let around = writer.texts;
        Self { writer, end, is_empty: true, keys: BTreeSet::new(), entries: Vec::new(), around }
    }

    fn next(&mut self) -> Result<()> {
        if !self.is_empty {
            self.writer.raw(",")?;
        }
        self.is_empty = false;
        self.writer.break_line()
    }

    fn field(&mut self, name: &str, value: WriteData<'_>) -> Result<()> {
        if self.end.is_empty() {
            return if self.writer.texts == Texts::Digits { value(self.writer) } else { Ok(()) };
        }
        if self.writer.layout == Layout::Canonical {
            self.entries.push((name.to_owned(), String::new()));
        } else {
            self.next()?;
            self.writer.name(name)?;
        }
        self.value(value)
    }

    /// A key of a map, which no other key of the map becomes.
    fn key(&mut self, key: String) -> Result<()> {
        if self.writer.layout == Layout::Canonical {
            self.entries.push((key, String::new()));
            return Ok(());
        }
        self.next()?;
        if self.writer.change.is_none() {
            return self.writer.text(&key);
        }
        let mut unique = key.clone();
        let mut number = 1_usize;
        while !self.keys.insert(unique.clone()) {
            number += 1;
            unique = format!("{key} ({number})");
        }
        self.writer.text(&unique)
    }

    /// The value of the field or key that was written last.
    fn value(&mut self, value: WriteData<'_>) -> Result<()> {
        if let Some((_, entry)) = self.entries.last_mut() {
            *entry = json_of(value, self.writer.layout, self.writer.change, Texts::Quoted)?;
            return Ok(());
        }
        self.writer.separate_name()?;
        value(self.writer)
    }

    fn close(mut self) -> Result<()> {
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_unstable();
        for (key, value) in entries.iter().filter(|(_, value)| !value.is_empty()) {
            self.next()?;
            self.writer.text(key)?;
            self.writer.separate_name()?;
            self.writer.raw(value)?;
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
        let is_left_out = name == LOCATION && self.layout == Layout::Canonical;
        if name != NUMBER && !is_left_out {
            return self.open("{", "}");
        }
        let parts = Parts::new(self, "");
        if name == NUMBER {
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
        let key = json_of(&|writer| key.serialize(writer), Layout::Compact, self.writer.change, Texts::Key)?;
        self.key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.value(&|writer| value.serialize(writer))
    }

    fn end(self) -> Result<()> {
        self.close()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use evalsuite_schema::Location;
    use proptest::prelude::{Strategy, any, proptest};
    use proptest::{collection, prop_oneof};
    use serde::Serialize;
    use serde_json::{Map, Value, json};

    use super::*;

    #[derive(Serialize)]
    enum Variant {
        Unit,
        Newtype(u8),
        Tuple(u8, Option<char>),
        Struct { name: &'static str, list: Vec<u8> },
    }

    #[derive(Serialize)]
    struct Everything {
        variants: Vec<Variant>,
        unit: (),
        tuple: (i8, u16, f32, bool),
        large: (i128, u64, f64, f64),
        keys: BTreeMap<i32, BTreeMap<char, Vec<()>>>,
        empty: BTreeMap<String, String>,
    }

    fn same_as_serde_json(data: &impl Serialize) {
        assert_eq!(written(data, Layout::Compact, None).unwrap(), serde_json::to_string(data).unwrap());
        assert_eq!(written(data, Layout::Pretty(0), None).unwrap(), serde_json::to_string_pretty(data).unwrap());
    }

    fn values() -> impl Strategy<Value = Value> {
        let text = || prop_oneof![".*", "[\\x00-\\x7f\"\\\\\n]*"];
        let scalar = prop_oneof![
            text().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<Option<bool>>().prop_map(Value::from),
        ];
        scalar.prop_recursive(4, 32, 4, move |value| {
            prop_oneof![
                collection::vec(value.clone(), 0..4).prop_map(Value::from),
                collection::vec((text(), value), 0..4)
                    .prop_map(|entries| Value::from(entries.into_iter().collect::<Map<String, Value>>())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_value_is_written_as_serde_json_does(value in values()) {
            same_as_serde_json(&value);
            let mut sorted = value.clone();
            sorted.sort_all_objects();
            assert_eq!(written(&value, Layout::Canonical, None).unwrap(), sorted.to_string());
        }
    }

    #[test]
    fn every_shape_is_written_as_serde_json_does() {
        let list = vec![1, 2];
        let variants =
            vec![Variant::Unit, Variant::Newtype(1), Variant::Tuple(2, Some('"')), Variant::Struct { name: "n", list }];
        same_as_serde_json(&Everything {
            variants,
            unit: (),
            tuple: (-1, 2, 0.1, true),
            large: (i128::MIN, u64::MAX, 1e300, f64::NAN),
            keys: BTreeMap::from([(-1, BTreeMap::from([('ä', vec![()])])), (2, BTreeMap::new())]),
            empty: BTreeMap::new(),
        });
        let list_as_key = BTreeMap::from([(vec![1], 2)]);
        assert!(written(&list_as_key, Layout::Compact, None).is_err());
    }

    #[test]
    fn a_number_of_any_length_is_written_as_it_is() {
        #[derive(Serialize)]
        #[serde(rename = "$serde_json::private::Number")]
        struct Digits {
            #[serde(rename = "$serde_json::private::Number")]
            digits: &'static str,
        }
        fn hidden(_: &str) -> Cow<'_, str> {
            Cow::Borrowed("hidden")
        }
        let number = Digits { digits: "1e999" };
        let written = written(&(number, "text"), Layout::Compact, Some(&hidden)).unwrap();
        assert_eq!(written, r#"[1e999,"hidden"]"#);
    }

    #[test]
    fn places_in_files_are_not_canonical() {
        #[derive(Serialize)]
        struct Located {
            location: Location,
            data: Value,
        }
        let data = json!({"location": {"file": "f", "line": 1, "column": 1}, "a": 1});
        let located = Located { location: Location::new("f", 1, 1), data };
        let canonical = written(&located, Layout::Canonical, None).unwrap();
        assert_eq!(canonical, r#"{"data":{"a":1,"location":{"column":1,"file":"f","line":1}}}"#);
    }
}
