//! The `serde` serializer.

use std::borrow::Cow;

use crate::diagnostics::Location;
use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::{Error, Number, Result};

use crate::json::number;
use crate::json::writer::{JsonWriter, Parts, Spacing, Texts, json_of};

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
        let is_left_out = name == Location::SERIALIZED && self.spacing == Spacing::Canonical;
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
