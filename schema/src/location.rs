//! Locations in the files of a suite, and paths that these files name.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A place in a suite's file.
///
/// ```
/// use evalsuite_schema::Location;
///
/// let grader = Location::new("suites/shop/cases/refund.yaml", 9, 5);
/// assert_eq!(grader.to_string(), "suites/shop/cases/refund.yaml:9:5");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
// By this name `json_writer` knows what is left out of canonical JSON.
#[serde(rename(serialize = "$evalsuite_schema::private::Location"))]
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
    pub(crate) const SERIALIZED: &str = "$evalsuite_schema::private::Location";

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

/// A path named by a file of the suite, found while the suite was loaded.
///
/// ```
/// use evalsuite_schema::{Part, PathRef};
///
/// let report = Part::File(PathRef::new("out/report.md"));
/// assert_eq!(report.file().map(|file| file.path.as_str()), Some("out/report.md"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PathRef {
    /// The path as written in the file.
    pub written: String,
    /// Where it was found: relative to the package root, with `/` separators; absolute if the suite is outside the package.
    pub path: String,
}

impl PathRef {
    /// A path as a file writes it, and where it was found.
    pub fn found(written: impl Into<String>, path: impl Into<String>) -> Self {
        Self { written: written.into(), path: path.into() }
    }

    /// A path that is not from a file of the suite, such as a file that an agent wrote: absolute, or relative to the workspace.
    pub fn new(path: impl Into<String>) -> Self {
        let path = path.into();
        Self { written: path.clone(), path }
    }
}
