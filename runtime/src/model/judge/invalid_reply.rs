//! The error for a reply that does not have the requested form.

use std::fmt;

/// What is wrong with a reply. A judge that is asked to repair it is shown this text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InvalidReply(String);

impl fmt::Display for InvalidReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<String> for InvalidReply {
    fn from(problem: String) -> Self {
        Self(problem)
    }
}

impl From<&str> for InvalidReply {
    fn from(problem: &str) -> Self {
        Self(problem.to_owned())
    }
}
