//! Decoding of JSON.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Decodes JSON as a type, through a [`Value`].
///
/// All decoding goes through `Value`: `Deserialize` code is generated once per source of data, and all of it is linked,
/// unoptimised and with debug information, whenever a user's tests are built.
///
/// # Errors
///
/// If it is not JSON, or not of this type.
pub(crate) fn decode<T: DeserializeOwned>(json: &[u8]) -> serde_json::Result<T> {
    let value: Value = serde_json::from_slice(json)?;
    serde_json::from_value(value)
}
