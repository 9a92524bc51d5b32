//! Data with one form in JSON: what cases and records are read from and written to.
//!
//! The derives of `serde` generate code for any format: for each field a name in three encodings, a check for repetition and an index in a
//! list. Unoptimised, in every test program, for all fields of all records, it was a fifth of what is compiled. [`ToJson`] writes to the one
//! writer, [`FromJson`] reads from a [`Value`]; a field is one call. Such a type also implements `Serialize` and `Deserialize`, through
//! a [`Value`], for the formats and types of others.

mod fields;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use fields::{Fields, Variant};
pub use write::ObjectWriter;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::Result;

use super::writer::{JsonWriter, Spacing, json_of, written};
use super::{Reader, Value};

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
