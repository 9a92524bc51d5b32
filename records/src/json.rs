//! Reading and writing of JSON.

use evalsuite_schema::Value;
use evalsuite_schema::json::ToJson;
use evalsuite_schema::json::writer::{Change, Spacing, written};
use serde::de::DeserializeOwned;

/// Decodes JSON as a type.
///
/// All decoding goes through bytes, also that of a [`Value`], by [`decode_value`]: `Deserialize` code is
/// generated once per source of data, and all of it is linked, unoptimised and with debug information, whenever a user's tests are
/// built.
///
/// # Errors
///
/// If it is not JSON, or not of this type.
pub fn decode<T: DeserializeOwned>(json: &[u8]) -> serde_json::Result<T> {
    evalsuite_schema::json::from_slice(json)
}

/// Decodes a value as a type.
///
/// # Errors
///
/// If it is not of this type.
pub fn decode_value<T: DeserializeOwned>(value: &Value) -> serde_json::Result<T> {
    decode(compact(value, None)?.as_bytes())
}

/// JSON in one line, with changed texts.
///
/// # Errors
///
/// If the data is not JSON.
pub fn compact(data: &dyn ToJson, change: Option<Change<'_>>) -> serde_json::Result<String> {
    written(data, Spacing::Compact, change)
}

/// JSON with line breaks, with changed texts.
///
/// # Errors
///
/// If the data is not JSON.
pub fn pretty(data: &dyn ToJson, change: Option<Change<'_>>) -> serde_json::Result<String> {
    written(data, Spacing::Pretty(0), change)
}
