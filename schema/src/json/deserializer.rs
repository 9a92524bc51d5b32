//! A value as a deserializer, for the types of agents and graders.

use std::borrow::Cow;

use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer, StringDeserializer};
use serde::de::{Deserializer, Error as _, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Result};

use super::reader::Key;
use crate::json::{Object, Value};

impl IntoDeserializer<'_, Error> for Value {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Value {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self {
            Self::Null => visitor.visit_unit(),
            Self::Bool(value) => visitor.visit_bool(value),
            Self::Number(number) => number.deserialize_any(visitor),
            Self::String(text) => visitor.visit_string(text),
            Self::Array(items) => {
                let mut items = SeqDeserializer::new(items.into_iter());
                let value = visitor.visit_seq(&mut items)?;
                items.end().map(|()| value)
            }
            Self::Object(object) => {
                let mut entries = entries(object);
                let value = visitor.visit_map(&mut entries)?;
                entries.end().map(|()| value)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
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
        match self {
            Self::String(variant) => visitor.visit_enum(StringDeserializer::new(variant)),
            Self::Object(object) if object.len() == 1 => {
                visitor.visit_enum(MapAccessDeserializer::new(entries(object)))
            }
            Self::Object(_) => Err(Error::invalid_value(Unexpected::Map, &"map with a single key")),
            other => Err(Error::invalid_type(other.unexpected(), &"string or map")),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

fn entries<'de>(object: Object) -> MapDeserializer<'de, impl Iterator<Item = (Key<'de>, Value)>, Error> {
    MapDeserializer::new(object.into_iter().map(|(key, value)| (Key(Cow::Owned(key)), value)))
}

impl Value {
    pub(super) fn unexpected(&self) -> Unexpected<'_> {
        match self {
            Self::Null => Unexpected::Unit,
            Self::Bool(value) => Unexpected::Bool(*value),
            Self::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => Unexpected::Unsigned(number),
                (_, Some(number)) => Unexpected::Signed(number),
                _ => Unexpected::Float(number.as_f64().unwrap_or_default()),
            },
            Self::String(text) => Unexpected::Str(text),
            Self::Array(_) => Unexpected::Seq,
            Self::Object(_) => Unexpected::Map,
        }
    }
}
