//! Typed values of an output file, and the error if it does not have the documented form.

use evalsuite_schema::{Object, Value};

/// The error about a value of another type than `expected`.
pub(crate) fn wrong_type(key: &str, expected: &str, found: &Value) -> String {
    let found = match found {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("`{value}`"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    format!("`{key}` has to be {expected}, found {found}")
}

/// The value of a key as `read` returns it; `None` if the key is missing or null. `expected` describes what `read` accepts.
pub(crate) fn value<'o, T>(
    object: &'o Object,
    key: &str,
    expected: &str,
    read: impl FnOnce(&'o Value) -> Option<T>,
) -> Result<Option<T>, String> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => read(value).map(Some).ok_or_else(|| wrong_type(key, expected, value)),
    }
}

/// A text, see [`value`].
pub(crate) fn text<'o>(object: &'o Object, key: &str) -> Result<Option<&'o str>, String> {
    value(object, key, "a string", Value::as_str)
}
