//! Data with one form in JSON: what cases and records are read from and written to.
//!
//! The derives of `serde` generate code for any format: for each field a name in three encodings, a check for repetition and an index in a
//! list. Unoptimised, in every test program, for all fields of all records, it was a fifth of what is compiled. [`ToJson`] writes to the one
//! writer, [`FromJson`] reads from a [`Value`]; a field is one call. Such a type also implements `Serialize` and `Deserialize`, through
//! a [`Value`], for the formats and types of others.
//!
//! Writing of data.

mod read;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::Result;

use super::writer::{JsonWriter, Spacing, json_of, written};
use super::{Reader, Value};
use crate::json::writer::{Parts, Texts};
use crate::json::{Number, Object};

pub(super) use self::read::key_as_number;
pub use self::read::{Fields, Variant};

/// Data that is written as JSON. `#[derive(ToJson)]` of `evalsuite-derive` implements it.
pub trait ToJson {
    /// Writes it.
    ///
    /// # Errors
    ///
    /// If it is not JSON, such as a map whose keys are objects.
    fn write(&self, writer: &mut JsonWriter<'_>) -> Result<()>;
}

/// Data that is read from JSON. `#[derive(FromJson)]` of `evalsuite-derive` implements it.
pub trait FromJson: Sized {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// If the value is not of this type.
    fn from_json(value: Value) -> Result<Self>;

    /// What a field holds that is absent; `None` if it has to be there.
    fn absent() -> Option<Self> {
        None
    }

    /// Reads the key of a map.
    ///
    /// # Errors
    ///
    /// If the key is not of this type.
    fn from_key(key: String) -> Result<Self> {
        Self::from_json(Value::String(key))
    }
}

/// `Serialize` of a type that is [`ToJson`].
///
/// # Errors
///
/// Those of the data and of the serializer.
pub fn serialize<S: Serializer>(data: &dyn ToJson, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    value_of(data).map_err(S::Error::custom)?.serialize(serializer)
}

/// `Deserialize` of a type that is [`FromJson`].
///
/// # Errors
///
/// Those of the data and of the deserializer.
pub fn deserialize<'de, T: FromJson, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<T, D::Error> {
    T::from_json(Value::deserialize(deserializer)?).map_err(D::Error::custom)
}

fn value_of(data: &dyn ToJson) -> Result<Value> {
    Reader::new(&written(data, Spacing::Compact, None)?).of_any_depth().only_value()
}

/// Data as a value.
///
/// # Errors
///
/// If the data is not JSON.
pub fn to_value<T: ToJson + ?Sized>(data: &T) -> Result<Value> {
    value_of(&data)
}

/// Data of a type that implements only `Serialize`, as a value.
///
/// # Errors
///
/// If the data is not JSON, such as a map whose keys are objects.
pub fn to_value_by_serde<T: Serialize + ?Sized>(data: &T) -> Result<Value> {
    let json = json_of(&|writer| data.serialize(writer), Spacing::Compact, None, super::writer::Texts::Quoted)?;
    Reader::new(&json).of_any_depth().only_value()
}

/// [`ToJson`] for a type that implements `Serialize`.
#[doc(hidden)]
#[macro_export]
macro_rules! __written_by_serde {
    ($($type:ty),*) => {$(
        impl $crate::json::ToJson for $type {
            fn write(&self, writer: &mut $crate::json::JsonWriter<'_>) -> $crate::json::Result<()> {
                $crate::json::serde::Serialize::serialize(self, writer)
            }
        }
    )*};
}

/// `Serialize` and `Deserialize` for a type that implements [`ToJson`] and [`FromJson`] without the derives.
#[doc(hidden)]
#[macro_export]
macro_rules! __by_json {
    ($type:ty) => {
        impl $crate::json::serde::Serialize for $type {
            fn serialize<S: $crate::json::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                $crate::json::serialize(self, serializer)
            }
        }

        impl<'de> $crate::json::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::json::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::json::deserialize(deserializer)
            }
        }
    };
}

/// An object that is being written, or a list. The first error is returned at its end.
#[doc(hidden)]
pub struct ObjectWriter<'w, 'd> {
    parts: Parts<'w, 'd>,
    result: Result<()>,
}

impl ObjectWriter<'_, '_> {
    /// Writes a field.
    pub fn field(&mut self, name: &str, value: &dyn ToJson) {
        if self.result.is_ok() {
            self.result = self.parts.field(name, &|writer| value.write(writer));
        }
    }

    /// Writes an entry of a map.
    fn entry(&mut self, key: &dyn ToJson, value: &dyn ToJson) -> Result<()> {
        let change = self.parts.change();
        let key = json_of(&|writer| key.write(writer), Spacing::Compact, change, Texts::Key)?;
        self.parts.key(key)?;
        self.parts.value(&|writer| value.write(writer))
    }

    /// Ends it.
    ///
    /// # Errors
    ///
    /// If a part of it was not JSON.
    pub fn end(self) -> Result<()> {
        self.result?;
        self.parts.close()
    }
}

impl<'d> JsonWriter<'d> {
    /// Begins an object.
    ///
    /// # Errors
    ///
    /// If an object cannot be written here.
    pub fn object<'w>(&'w mut self) -> Result<ObjectWriter<'w, 'd>> {
        Ok(ObjectWriter { parts: self.open("{", "}")?, result: Ok(()) })
    }

    /// Begins the object of a variant with fields.
    ///
    /// # Errors
    ///
    /// If an object cannot be written here.
    pub fn object_of_variant<'w>(&'w mut self, variant: &str) -> Result<ObjectWriter<'w, 'd>> {
        self.open_variant(variant)?;
        Ok(ObjectWriter { parts: self.open("{", "}}")?, result: Ok(()) })
    }

    /// Writes a variant with one value.
    ///
    /// # Errors
    ///
    /// If the value is not JSON.
    pub fn variant(&mut self, variant: &str, value: &dyn ToJson) -> Result<()> {
        self.open_variant(variant)?;
        value.write(self)?;
        self.close(false, "}")
    }

    /// Writes a variant without data.
    ///
    /// # Errors
    ///
    /// If nothing can be written.
    pub fn word(&mut self, variant: &'static str) -> Result<()> {
        self.serialize_unit_variant("", 0, variant)
    }

    fn list(&mut self, items: &mut dyn Iterator<Item = &dyn ToJson>) -> Result<()> {
        let mut parts = self.open("[", "]")?;
        for item in items {
            parts.next()?;
            item.write(parts.writer())?;
        }
        parts.close()
    }
}

/// Types that `serde` writes well.
macro_rules! by_serde {
    ($($type:ty)*) => {$(
        impl ToJson for $type {
            fn write(&self, writer: &mut JsonWriter<'_>) -> Result<()> {
                self.serialize(writer)
            }
        }
    )*};
}

by_serde! { () bool u8 u128 i32 i64 u16 u32 u64 usize f64 str String PathBuf Number Value Object serde_json::Value }

/// Types that hold a value.
macro_rules! by_content {
    ($($type:ty)*) => {$(
        impl<T: ToJson + ?Sized> ToJson for $type {
            fn write(&self, writer: &mut JsonWriter<'_>) -> Result<()> {
                (**self).write(writer)
            }
        }
    )*};
}

by_content! { &T &mut T Box<T> }

impl<T: ToJson> ToJson for Option<T> {
    fn write(&self, writer: &mut JsonWriter<'_>) -> Result<()> {
        match self {
            Some(value) => value.write(writer),
            None => writer.serialize_unit(),
        }
    }
}

impl<T: ToJson> ToJson for [T] {
    fn write(&self, writer: &mut JsonWriter<'_>) -> Result<()> {
        writer.list(&mut self.iter().map(|item| item as &dyn ToJson))
    }
}

impl<T: ToJson> ToJson for Vec<T> {
    fn write(&self, writer: &mut JsonWriter<'_>) -> Result<()> {
        self.as_slice().write(writer)
    }
}

impl<T: ToJson> ToJson for BTreeSet<T> {
    fn write(&self, writer: &mut JsonWriter<'_>) -> Result<()> {
        writer.list(&mut self.iter().map(|item| item as &dyn ToJson))
    }
}

impl<T: ToJson, const N: usize> ToJson for [T; N] {
    fn write(&self, writer: &mut JsonWriter<'_>) -> Result<()> {
        self.as_slice().write(writer)
    }
}

impl<A: ToJson, B: ToJson> ToJson for (A, B) {
    fn write(&self, writer: &mut JsonWriter<'_>) -> Result<()> {
        writer.list(&mut [&self.0 as &dyn ToJson, &self.1].into_iter())
    }
}

impl<K: ToJson, V: ToJson> ToJson for BTreeMap<K, V> {
    fn write(&self, writer: &mut JsonWriter<'_>) -> Result<()> {
        let mut object = writer.object()?;
        for (key, value) in self {
            object.entry(key, value)?;
        }
        object.end()
    }
}
