//! Reading and writing of JSON.

use evalsuite_schema::json::writer::{Change, Spacing, written};
use evalsuite_schema::json::{FromJson, ToJson};

/// Decodes JSON as a type.
///
/// All decoding goes through bytes: `Deserialize` code is generated once per source of data, and all of it is linked, unoptimised and with
/// debug information, whenever a user's tests are built.
///
/// # Errors
///
/// If it is not JSON, or not of this type.
pub fn decode<T: FromJson>(json: &[u8]) -> serde_json::Result<T> {
    evalsuite_schema::json::from_slice(json)
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
