//! The error for an output file that does not have the documented form.

use evalsuite_schema::Value;

use crate::platform::text_error::text_error;

text_error! {
    /// What is wrong with a structured output file.
    InvalidOutput
}

impl InvalidOutput {
    /// A value of another type than `expected`.
    pub(crate) fn wrong_type(key: &str, expected: &str, found: &Value) -> Self {
        let found = match found {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => format!("`{value}`"),
            Value::Number(number) => format!("the number {number}"),
            Value::String(_) => "a string".to_owned(),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "an object".to_owned(),
        };
        Self(format!("`{key}` has to be {expected}, found {found}"))
    }
}
