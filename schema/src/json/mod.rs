//! JSON values whose objects keep the order of their keys, and a reader that reads numbers exactly.
//!
//! `serde_json` can do both with its features `preserve_order` and `float_roundtrip`. Cargo unifies features: the agent
//! under test would get them as well, and send other prompts, tool schemas and cache keys under `cargo test` than in
//! production. Without the features, its `Value` sorts keys, and its reader is off by one bit for a third of the
//! numbers with 17 digits. `RawValue`, the text of an object, avoids both problems, but configurations are merged,
//! redacted and searched, which needs a value.
//!
//! [`Value`] has the methods of `serde_json::Value`, and each converts into the other, so agents and graders can use
//! `serde_json::json!`. [`Reader`] is the counterpart of [`writer`]: the result of both
//! does not depend on the features that an agent enables (`arbitrary_precision` breaks the decoding of tagged enums, for
//! example).

mod data;
mod decode;
pub(crate) mod number;
mod object;
mod reader;
#[cfg(test)]
mod tests;
mod value;
#[doc(hidden)]
pub mod writer;

/// A JSON value, like `serde_json::json!`: `json!({"b": 1, "a": [null, name]})`. The keys stay in this order.
pub use crate::__json as json;

#[doc(hidden)]
pub use data::{Fields, FromJson, ObjectWriter, ToJson, Variant, deserialize, serialize, to_value, to_value_by_serde};
#[doc(hidden)]
pub use evalsuite_derive::{FromJson, FromJsonOverDefault, ToJson, skip_empty};
pub use number::Number;
#[doc(hidden)]
pub use number::number_of_digits;
pub use object::{Object, key_of_step, step_of_key};
pub use reader::Reader;
pub use value::{Index, Value};
#[doc(hidden)]
pub use writer::JsonWriter;

#[doc(hidden)]
pub use crate::{__by_json as by_json, __written_by_serde as written_by_serde};
/// What the derives refer to.
#[doc(hidden)]
pub use serde;
#[doc(hidden)]
pub use serde_json::Result;

use serde::de::DeserializeOwned;

use writer::{Spacing, written};

/// Decodes JSON.
///
/// # Errors
///
/// If it is not JSON, or not of this type.
pub fn from_str<T: FromJson>(json: &str) -> Result<T> {
    Reader::new(json).only_value()
}

/// Decodes JSON and rejects duplicate keys of objects, whose value would be ambiguous.
///
/// # Errors
///
/// As for [`from_str`], and if an object has a key twice.
pub fn from_str_with_unique_keys<T: FromJson>(json: &str) -> Result<T> {
    Reader::new(json).with_unique_keys().only_value()
}

/// Decodes JSON in UTF-8.
///
/// # Errors
///
/// If it is not JSON, or not of this type.
pub fn from_slice<T: FromJson>(json: &[u8]) -> Result<T> {
    from_str(text(json)?)
}

/// Decodes JSON in UTF-8 and rejects duplicate keys of objects, whose value would be ambiguous.
///
/// # Errors
///
/// As for [`from_slice`], and if an object has a key twice.
pub fn from_slice_with_unique_keys<T: FromJson>(json: &[u8]) -> Result<T> {
    from_str_with_unique_keys(text(json)?)
}

fn text(json: &[u8]) -> Result<&str> {
    std::str::from_utf8(json).map_err(serde::de::Error::custom)
}

/// Decodes a value into a type that implements `Deserialize`.
///
/// # Errors
///
/// If the value is not of this type.
pub fn from_value<T: DeserializeOwned>(value: impl Into<Value>) -> Result<T> {
    T::deserialize(value.into())
}

/// Data as JSON in one line.
///
/// # Errors
///
/// If the data is not JSON.
pub fn to_string<T: ToJson + ?Sized>(data: &T) -> Result<String> {
    written(&data, Spacing::Compact, None)
}

/// Data as JSON with line breaks.
///
/// # Errors
///
/// If the data is not JSON.
pub fn to_string_pretty<T: ToJson + ?Sized>(data: &T) -> Result<String> {
    written(&data, Spacing::Pretty(0), None)
}

/// See [`json::json`](crate::json::json).
#[doc(hidden)]
#[macro_export]
macro_rules! __json {
    (null) => { $crate::Value::Null };
    ([$($item:tt)*]) => { $crate::Value::Array($crate::__json_items!([] $($item)*)) };
    ({$($entry:tt)*}) => {{
        #[allow(unused_mut)]
        let mut object = $crate::Object::new();
        $crate::__json_entries!(object [] $($entry)*);
        $crate::Value::Object(object)
    }};
    ($value:expr) => { $crate::json::to_value(&$value).expect("the value is JSON") };
}

/// Items of a list: those that are done, then those that follow. What is in braces or brackets is JSON.
#[doc(hidden)]
#[macro_export]
macro_rules! __json_items {
    ([$($done:expr,)*]) => { ::std::vec![$($done),*] };
    ([$($done:expr,)*] null $(, $($rest:tt)*)?) => { $crate::__json_items!([$($done,)* $crate::__json!(null),] $($($rest)*)?) };
    ([$($done:expr,)*] [$($item:tt)*] $(, $($rest:tt)*)?) => {
        $crate::__json_items!([$($done,)* $crate::__json!([$($item)*]),] $($($rest)*)?)
    };
    ([$($done:expr,)*] {$($entry:tt)*} $(, $($rest:tt)*)?) => {
        $crate::__json_items!([$($done,)* $crate::__json!({$($entry)*}),] $($($rest)*)?)
    };
    ([$($done:expr,)*] $value:expr $(, $($rest:tt)*)?) => {
        $crate::__json_items!([$($done,)* $crate::__json!($value),] $($($rest)*)?)
    };
}

/// Entries of an object: tokens of the key so far, then what follows.
#[doc(hidden)]
#[macro_export]
macro_rules! __json_entries {
    ($object:ident []) => {};
    ($object:ident [$($key:tt)+] : null $(, $($rest:tt)*)?) => {
        $object.insert(($($key)+).into(), $crate::__json!(null));
        $crate::__json_entries!($object [] $($($rest)*)?);
    };
    ($object:ident [$($key:tt)+] : [$($item:tt)*] $(, $($rest:tt)*)?) => {
        $object.insert(($($key)+).into(), $crate::__json!([$($item)*]));
        $crate::__json_entries!($object [] $($($rest)*)?);
    };
    ($object:ident [$($key:tt)+] : {$($entry:tt)*} $(, $($rest:tt)*)?) => {
        $object.insert(($($key)+).into(), $crate::__json!({$($entry)*}));
        $crate::__json_entries!($object [] $($($rest)*)?);
    };
    ($object:ident [$($key:tt)+] : $value:expr $(, $($rest:tt)*)?) => {
        $object.insert(($($key)+).into(), $crate::__json!($value));
        $crate::__json_entries!($object [] $($($rest)*)?);
    };
    ($object:ident [$($key:tt)*] $next:tt $($rest:tt)*) => {
        $crate::__json_entries!($object [$($key)* $next] $($rest)*);
    };
}

/// `true` for the value that [`Default`] gives; such values are left out of the canonical JSON.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
