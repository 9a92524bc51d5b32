//! Paths that the files of a suite name.

use crate::json::{FromJson, ToJson};

/// A path named by a file of the suite, found while the suite was loaded.
///
/// ```
/// use evalsuite_schema::{Part, PathRef};
///
/// let report = Part::File(PathRef::new("out/report.md"));
/// assert_eq!(report.file().map(|file| file.path.as_str()), Some("out/report.md"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, ToJson, FromJson)]
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

crate::keys::made!(PathRef);
