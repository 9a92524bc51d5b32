//! Errors with their sources, errors that are a text, and the error of a setting that cannot be used.

use std::error::Error;
use std::iter::successors;

use crate::platform::excerpt::middle_out;

/// Characters kept of an error or a panic: a record with more can be too large to be read.
pub(crate) const LONGEST: usize = 16 * 1024;

/// The error and its sources, outermost first.
pub(crate) fn chain<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    successors(Some(error), |&error| error.source())
}

/// The texts of an error and its sources, each once; of a long text, the beginning and the end.
pub(crate) fn chain_text(error: &(dyn Error + 'static)) -> String {
    let mut text = String::new();
    for message in chain(error).map(ToString::to_string) {
        if !text.contains(&message) {
            text.push_str(if text.is_empty() { "" } else { ": " });
            text.push_str(&message);
        }
    }
    middle_out(&text, LONGEST).into_owned()
}

/// An error type whose value is its message. It is made from texts with `From`.
macro_rules! text_error {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(crate) struct $name(pub(crate) String);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::error::Error for $name {}

        impl From<String> for $name {
            fn from(message: String) -> Self {
                Self(message)
            }
        }

        impl From<&str> for $name {
            fn from(message: &str) -> Self {
                Self(message.to_owned())
            }
        }
    };
}

pub(crate) use text_error;

text_error! {
    /// What is wrong with environment variables, their file or options.
    SettingError
}
