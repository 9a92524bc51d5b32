//! Commands of suites, and the paths that suites name.

use evalsuite_derive::skip_empty;

use crate::json::{FromJson, ToJson};

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash, ToJson, FromJson)]
#[json(rename_all = "lowercase")]
pub enum Command {
    /// A line for `sh -c` (on Windows `cmd /C`).
    Shell(String),
    /// Program and arguments, without a shell. Elements that name files of the suite are [`Argument::Path`].
    Argv(Vec<Argument>),
}

/// A command and its working directory.
#[skip_empty]
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson)]
pub struct PreparedCommand {
    /// What runs.
    pub command: Command,
    /// Working directory; `None`: the directory of the eval file.
    pub cwd: Option<PathRef>,
}

/// An element of [`Command::Argv`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, ToJson, FromJson)]
#[json(rename_all = "lowercase")]
pub enum Argument {
    /// Passed as written.
    Text(String),
    /// A file of the suite, passed as absolute path.
    Path(PathRef),
}

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

crate::keys::made!(PathRef, PreparedCommand);
