//! The error for an output file that does not have the documented form.

use std::fmt;

use evalsuite_schema::Value;

/// What is wrong with a structured output file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InvalidOutput(String);

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

impl fmt::Display for InvalidOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<String> for InvalidOutput {
    fn from(problem: String) -> Self {
        Self(problem)
    }
}

impl From<&str> for InvalidOutput {
    fn from(problem: &str) -> Self {
        Self(problem.to_owned())
    }
}
