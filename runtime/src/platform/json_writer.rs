//! Writes data as JSON. All records are written by this one serializer.
//!
//! `serde_json` has a serializer per layout, per destination and per way to change texts. The code of every record for each of
//! them is linked into every test program, where it looks at texts byte by byte without optimisation.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::fmt::Write;

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::{Error, Number, Result};

/// Changes a text.
pub(crate) type Change<'c> = &'c dyn for<'t> Fn(&'t str) -> Cow<'t, str>;

/// Name of the struct as which numbers of any length serialize, with the feature `arbitrary_precision` of `serde_json`.
const NUMBER: &str = "$serde_json::private::Number";

/// JSON as it is being written, with every text in the data changed: values and keys of maps, but neither the names of fields and
/// variants nor numbers.
pub(crate) struct JsonWriter<'c> {
    json: String,
    /// Depth of the indentation; `None` if all is in one line.
    indent: Option<usize>,
    change: Option<Change<'c>>,
}

impl<'c> JsonWriter<'c> {
    pub(crate) fn new(has_line_breaks: bool, change: Option<Change<'c>>) -> Self {
        Self { json: String::new(), indent: has_line_breaks.then_some(0), change }
    }

    /// What was written.
    pub(crate) fn into_json(self) -> String {
        self.json
    }

    fn display(&mut self, value: &dyn fmt::Display) -> Result<()> {
        write!(self.json, "{value}").map_err(Error::custom)
    }

    fn text(&mut self, text: &str) -> Result<()> {
        // The standard library is optimised also in an unoptimised program. It escapes what JSON does, and more.
        let start = self.json.len();
        write!(self.json, "{text:?}").map_err(Error::custom)?;
        if self.json.len() == start + text.len() + 2 {
            return Ok(());
        }
        self.json.truncate(start);
        self.json.push('"');
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.json.push_str("\\n");
            }
            let start = self.json.len();
            write!(self.json, "{line:?}").map_err(Error::custom)?;
            let is_plain = self.json.len() == start + line.len() + 2;
            self.json.truncate(start);
            if is_plain {
                self.json.push_str(line);
            } else {
                let escaped = serde_json::to_string(line)?;
                self.json.push_str(&escaped[1..escaped.len() - 1]);
            }
        }
        self.json.push('"');
        Ok(())
    }

    fn break_line(&mut self) {
        const LINE: &str = "\n                                ";
        if let Some(depth) = self.indent {
            let width = 1 + 2 * depth;
            self.json.push_str(&LINE[..width.min(LINE.len())]);
            for _ in LINE.len()..width {
                self.json.push(' ');
            }
        }
    }

    fn separate_name(&mut self) {
        self.json.push_str(if self.indent.is_some() { ": " } else { ":" });
    }

    fn open<'w>(&'w mut self, bracket: char, end: &'static str) -> Parts<'w, 'c> {
        self.json.push(bracket);
        self.indent = self.indent.map(|depth| depth + 1);
        Parts { writer: self, end, is_empty: true, keys: BTreeSet::new(), number: None }
    }

    /// Begins the object of a variant with data.
    fn open_variant(&mut self, variant: &str) -> Result<()> {
        self.json.push('{');
        self.indent = self.indent.map(|depth| depth + 1);
        self.break_line();
        self.text(variant)?;
        self.separate_name();
        Ok(())
    }

    fn close_variant(&mut self) {
        self.indent = self.indent.map(|depth| depth - 1);
        self.break_line();
        self.json.push('}');
    }
}

/// An array or object that is being written.
pub(crate) struct Parts<'w, 'c> {
    writer: &'w mut JsonWriter<'c>,
    /// Its closing bracket, and that of the object of its variant.
    end: &'static str,
    is_empty: bool,
    /// Keys so far, of a map whose texts are changed: two of them may become the same.
    keys: BTreeSet<String>,
    /// The writer's change of texts while this is a [`NUMBER`], whose digits are not changed.
    number: Option<Option<Change<'c>>>,
}

impl Parts<'_, '_> {
    fn next(&mut self) {
        if !self.is_empty {
            self.writer.json.push(',');
        }
        self.is_empty = false;
        self.writer.break_line();
    }

    fn element(&mut self, value: &(impl Serialize + ?Sized)) -> Result<()> {
        self.next();
        value.serialize(&mut *self.writer)
    }

    /// What comes before the value of a field.
    fn name(&mut self, name: &str) -> Result<()> {
        if self.number.is_some() {
            return Ok(());
        }
        self.next();
        self.writer.text(name)?;
        self.writer.separate_name();
        Ok(())
    }

    /// What comes after the value of a field, which begins at `start`: the digits of a number are a text until then.
    fn end_value(&mut self, start: usize) {
        if self.number.is_some() {
            let digits = self.writer.json[start..].trim_matches('"').to_owned();
            self.writer.json.replace_range(start.., &digits);
        }
    }

    /// A key of a map, escaped, which no other key of the map becomes.
    fn key(&mut self, key: &str) {
        self.next();
        let mut unique = key.to_owned();
        let mut number = 1_usize;
        while self.writer.change.is_some() && !self.keys.insert(unique.clone()) {
            number += 1;
            unique = format!("{key} ({number})");
        }
        self.writer.json.push('"');
        self.writer.json.push_str(&unique);
        self.writer.json.push('"');
    }

    fn close(self) {
        let Self { writer, end, is_empty, number, .. } = self;
        if let Some(change) = number {
            writer.change = change;
            return;
        }
        writer.indent = writer.indent.map(|depth| depth - 1);
        if !is_empty {
            writer.break_line();
        }
        writer.json.push_str(&end[..1]);
        if end.len() > 1 {
            writer.close_variant();
        }
    }
}

/// Data in one line.
fn written(data: &(impl Serialize + ?Sized), change: Option<Change<'_>>) -> Result<String> {
    let mut writer = JsonWriter::new(false, change);
    data.serialize(&mut writer)?;
    Ok(writer.json)
}

macro_rules! display {
    ($($method:ident: $type:ty),* $(,)?) => {
        $(fn $method(self, value: $type) -> Result<()> {
            self.display(&value)
        })*
    };
}

impl<'w, 'c> Serializer for &'w mut JsonWriter<'c> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Parts<'w, 'c>;
    type SerializeTuple = Parts<'w, 'c>;
    type SerializeTupleStruct = Parts<'w, 'c>;
    type SerializeTupleVariant = Parts<'w, 'c>;
    type SerializeMap = Parts<'w, 'c>;
    type SerializeStruct = Parts<'w, 'c>;
    type SerializeStructVariant = Parts<'w, 'c>;

    display! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128,
    }

    fn serialize_f32(self, value: f32) -> Result<()> {
        self.json.push_str(&serde_json::to_string(&value)?);
        Ok(())
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
        match self.change {
            Some(change) => self.text(&change(text)),
            None => self.text(text),
        }
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
        self.json.push_str("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<()> {
        self.text(variant)
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
        self.close_variant();
        Ok(())
    }

    fn serialize_seq(self, _length: Option<usize>) -> Result<Parts<'w, 'c>> {
        Ok(self.open('[', "]"))
    }

    fn serialize_tuple(self, _length: usize) -> Result<Parts<'w, 'c>> {
        Ok(self.open('[', "]"))
    }

    fn serialize_tuple_struct(self, _name: &'static str, _length: usize) -> Result<Parts<'w, 'c>> {
        Ok(self.open('[', "]"))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _length: usize,
    ) -> Result<Parts<'w, 'c>> {
        self.open_variant(variant)?;
        Ok(self.open('[', "]}"))
    }

    fn serialize_map(self, _length: Option<usize>) -> Result<Parts<'w, 'c>> {
        Ok(self.open('{', "}"))
    }

    fn serialize_struct(self, name: &'static str, _length: usize) -> Result<Parts<'w, 'c>> {
        if name == NUMBER {
            let number = Some(self.change.take());
            return Ok(Parts { writer: self, end: "", is_empty: true, keys: BTreeSet::new(), number });
        }
        Ok(self.open('{', "}"))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _length: usize,
    ) -> Result<Parts<'w, 'c>> {
        self.open_variant(variant)?;
        Ok(self.open('{', "}}"))
    }
}

macro_rules! elements {
    ($($trait:ident: $method:ident),* $(,)?) => {
        $(impl $trait for Parts<'_, '_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.element(value)
            }

            fn end(self) -> Result<()> {
                self.close();
                Ok(())
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
                self.name(name)?;
                let start = self.writer.json.len();
                value.serialize(&mut *self.writer)?;
                self.end_value(start);
                Ok(())
            }

            fn end(self) -> Result<()> {
                self.close();
                Ok(())
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
        let key = written(key, self.writer.change)?;
        match key.as_bytes() {
            [b'"', ..] => self.key(&key[1..key.len() - 1]),
            [b'-' | b'0'..=b'9' | b't' | b'f', ..] => self.key(&key),
            _ => return Err(Error::custom("key must be a string")),
        }
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.writer.separate_name();
        value.serialize(&mut *self.writer)
    }

    fn end(self) -> Result<()> {
        self.close();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::{Strategy, any, proptest};
    use proptest::{collection, prop_oneof};
    use serde::Serialize;
    use serde_json::{Map, Value};

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
        let of = |has_line_breaks| {
            let mut writer = JsonWriter::new(has_line_breaks, None);
            data.serialize(&mut writer).unwrap();
            writer.into_json()
        };
        assert_eq!(of(false), serde_json::to_string(data).unwrap());
        assert_eq!(of(true), serde_json::to_string_pretty(data).unwrap());
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
        assert!(list_as_key.serialize(&mut JsonWriter::new(false, None)).is_err());
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
        let written = written(&(Digits { digits: "1e999" }, "text"), Some(&hidden)).unwrap();
        assert_eq!(written, r#"[1e999,"hidden"]"#);
    }
}
