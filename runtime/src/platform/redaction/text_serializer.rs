//! A serializer that changes every text in the data: values and keys of maps, but neither the names of fields and variants nor
//! numbers.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// Changes a text.
pub(crate) type Change<'c> = &'c dyn for<'t> Fn(&'t str) -> Cow<'t, str>;

/// Passes data on to another serializer, with every text changed.
pub(crate) struct TextSerializer<'c, S> {
    inner: S,
    change: Change<'c>,
}

impl<'c, S> TextSerializer<'c, S> {
    pub(crate) fn new(inner: S, change: Change<'c>) -> Self {
        Self { inner, change }
    }
}

/// Data whose texts are changed when it is serialized.
struct Changed<'c, 'd, T: ?Sized>(&'d T, Change<'c>);

impl<T: Serialize + ?Sized> Serialize for Changed<'_, '_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(TextSerializer::new(serializer, self.1))
    }
}

/// A part of the data that is being serialized.
pub(crate) struct Parts<'c, P> {
    inner: P,
    change: Change<'c>,
    /// Keys so far, of a map: two of them may become the same.
    keys: RefCell<BTreeSet<String>>,
}

impl<P> Parts<'_, P> {
    /// A key of a map, which no other key of the map becomes.
    fn key<'t>(&self, key: &'t str) -> Cow<'t, str> {
        let changed = (self.change)(key);
        let numbered = (2_usize..).map(|number| Cow::Owned(format!("{changed} ({number})")));
        let mut keys = self.keys.borrow_mut();
        let unique = std::iter::once(changed.clone()).chain(numbered).find(|key| keys.insert(key.clone().into_owned()));
        unique.unwrap_or(changed)
    }
}

macro_rules! pass_on {
    ($($method:ident: $type:ty),* $(,)?) => {
        $(fn $method(self, value: $type) -> Result<S::Ok, S::Error> {
            self.inner.$method(value)
        })*
    };
}

impl<'c, S: Serializer> Serializer for TextSerializer<'c, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Parts<'c, S::SerializeSeq>;
    type SerializeTuple = Parts<'c, S::SerializeTuple>;
    type SerializeTupleStruct = Parts<'c, S::SerializeTupleStruct>;
    type SerializeTupleVariant = Parts<'c, S::SerializeTupleVariant>;
    type SerializeMap = Parts<'c, S::SerializeMap>;
    type SerializeStruct = Parts<'c, S::SerializeStruct>;
    type SerializeStructVariant = Parts<'c, S::SerializeStructVariant>;

    pass_on! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128,
        serialize_f32: f32, serialize_f64: f64, serialize_char: char, serialize_bytes: &[u8], serialize_unit_struct: &'static str,
    }

    fn serialize_str(self, text: &str) -> Result<S::Ok, S::Error> {
        self.inner.serialize_str(&(self.change)(text))
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.inner.serialize_none()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.serialize_some(&Changed(value, self.change))
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit()
    }

    fn serialize_unit_variant(self, name: &'static str, index: u32, variant: &'static str) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit_variant(name, index, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.serialize_newtype_struct(name, &Changed(value, self.change))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.inner.serialize_newtype_variant(name, index, variant, &Changed(value, self.change))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        parts(self.inner.serialize_seq(length), self.change)
    }

    fn serialize_tuple(self, length: usize) -> Result<Self::SerializeTuple, S::Error> {
        parts(self.inner.serialize_tuple(length), self.change)
    }

    fn serialize_tuple_struct(self, name: &'static str, length: usize) -> Result<Self::SerializeTupleStruct, S::Error> {
        parts(self.inner.serialize_tuple_struct(name, length), self.change)
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        parts(self.inner.serialize_tuple_variant(name, index, variant, length), self.change)
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        parts(self.inner.serialize_map(length), self.change)
    }

    fn serialize_struct(self, name: &'static str, length: usize) -> Result<Self::SerializeStruct, S::Error> {
        parts(self.inner.serialize_struct(name, length), self.change)
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        parts(self.inner.serialize_struct_variant(name, index, variant, length), self.change)
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

fn parts<P, E>(inner: Result<P, E>, change: Change<'_>) -> Result<Parts<'_, P>, E> {
    Ok(Parts { inner: inner?, change, keys: RefCell::default() })
}

macro_rules! parts_in_order {
    ($($trait:ident: $method:ident),* $(,)?) => {
        $(impl<P: $trait> $trait for Parts<'_, P> {
            type Ok = P::Ok;
            type Error = P::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), P::Error> {
                self.inner.$method(&Changed(value, self.change))
            }

            fn end(self) -> Result<P::Ok, P::Error> {
                self.inner.end()
            }
        })*
    };
}

macro_rules! parts_with_names {
    ($($trait:ident),* $(,)?) => {
        $(impl<P: $trait> $trait for Parts<'_, P> {
            type Ok = P::Ok;
            type Error = P::Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), P::Error> {
                self.inner.serialize_field(name, &Changed(value, self.change))
            }

            fn end(self) -> Result<P::Ok, P::Error> {
                self.inner.end()
            }
        })*
    };
}

parts_in_order! {
    SerializeSeq: serialize_element, SerializeTuple: serialize_element, SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field,
}
parts_with_names! { SerializeStruct, SerializeStructVariant }

impl<P: SerializeMap> SerializeMap for Parts<'_, P> {
    type Ok = P::Ok;
    type Error = P::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), P::Error> {
        let Self { inner, change, keys } = self;
        let parts = Parts { inner: (), change: *change, keys: RefCell::new(keys.take()) };
        let written = inner.serialize_key(&Changed(key, &|key| parts.key(key)));
        *keys = parts.keys;
        written
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), P::Error> {
        self.inner.serialize_value(&Changed(value, self.change))
    }

    fn end(self) -> Result<P::Ok, P::Error> {
        self.inner.end()
    }
}
