//! Places in files as records and reports name them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A place in a suite's file.
///
/// ```
/// use evalsuite_schema::diagnostics::Location;
///
/// let grader = Location::new("suites/shop/cases/refund.yaml", 9, 5);
/// assert_eq!(grader.to_string(), "suites/shop/cases/refund.yaml:9:5");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
// By this name the writer of canonical JSON knows what it leaves out.
#[serde(rename(serialize = "$evalsuite_schema::diagnostics::private::Location"))]
#[non_exhaustive]
pub struct Location {
    /// Path relative to the Cargo workspace root, with `/` separators.
    pub file: String,
    /// Line, counted from 1. 0 for a place that is a whole file or directory.
    pub line: u32,
    /// Column in characters, counted from 1. 0 for a place that is a whole file or directory.
    pub column: u32,
}

impl Location {
    /// The name under which it is serialized.
    #[doc(hidden)]
    pub const SERIALIZED: &str = "$evalsuite_schema::diagnostics::private::Location";

    /// A place at a line and column, both counted from 1.
    pub fn new(file: impl Into<String>, line: u32, column: u32) -> Self {
        Self { file: file.into(), line, column }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}:{}", self.file, self.column),
        }
    }
}
