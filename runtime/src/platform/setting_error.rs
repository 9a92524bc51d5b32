//! The error of a setting that cannot be used.

use std::error::Error;
use std::fmt;

/// What is wrong with environment variables, their file or options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SettingError(String);

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for SettingError {}

impl From<String> for SettingError {
    fn from(problem: String) -> Self {
        Self(problem)
    }
}
