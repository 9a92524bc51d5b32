//! JSON as typed data.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads JSON as a type, through a [`Value`].
///
/// Everything is read this way: a type's code to read itself is made once per kind of source, and all that code is linked,
/// unoptimised and with its debug information, whenever a user's tests are built.
///
/// # Errors
///
/// If it is not JSON, or not of this type.
pub(crate) fn decode<T: DeserializeOwned>(json: &[u8]) -> serde_json::Result<T> {
    let value: Value = serde_json::from_slice(json)?;
    serde_json::from_value(value)
}
