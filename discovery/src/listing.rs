//! What listings of case files share: what is found, what is wrong, and how directories are read.

use std::path::Path;

/// Deepest nesting of directories that is followed.
pub const MAX_DEPTH: usize = 32;

/// Entries of directories that a pattern visits, at most.
pub const MAX_VISITED: usize = 100_000;

/// What [`crate::list`] found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Files that define cases, relative to the suite root with `/` separators, in the order of the bytes of their paths,
    /// or of the names of the case directories.
    pub files: Vec<String>,
    /// The problems, in the order in which they were found.
    pub problems: Vec<Problem>,
    /// Number of entries of directories that a pattern was compared with.
    pub visited: usize,
}

/// Something that cannot be listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where, relative to the suite root with `/` separators; lossy if the name is not UTF-8.
    pub path: String,
    /// What kind of problem it is.
    pub kind: ProblemKind,
    /// The problem, a lowercase fragment without a full stop.
    pub message: String,
}

/// Kinds of [`Problem`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProblemKind {
    /// A directory or file cannot be read, or its name is not UTF-8.
    Unreadable,
    /// A link is broken, circular, or points outside the boundary.
    Link,
    /// Directories are nested too deeply.
    TooDeep,
    /// A directory contains both `case.yaml` and `case.yml`.
    TwoCaseFiles,
    /// A directory among the case directories contains no case file. A warning: the directory is left out.
    NoCaseFile,
    /// A pattern cannot be compiled.
    InvalidGlob,
}

impl Listing {
    pub(crate) fn problem(&mut self, path: impl Into<String>, kind: ProblemKind, message: impl Into<String>) {
        self.problems.push(Problem { path: path.into(), kind, message: message.into() });
    }
}

/// Joins a relative path and a name with `/`.
pub(crate) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

/// Names of the entries of a directory, sorted; names that are not UTF-8 and read errors become problems.
pub(crate) fn entries(root: &Path, path: &str, listing: &mut Listing) -> Vec<(String, std::fs::FileType)> {
    let directory = root.join(path);
    let read = match std::fs::read_dir(&directory) {
        Ok(read) => read,
        Err(error) => {
            listing.problem(path, ProblemKind::Unreadable, error.to_string());
            return Vec::new();
        }
    };
    let mut found = Vec::new();
    for entry in read {
        match entry.and_then(|entry| Ok((entry.file_type()?, entry.file_name()))) {
            Ok((kind, name)) => match name.into_string() {
                Ok(name) => found.push((name, kind)),
                Err(name) => listing.problem(
                    join(path, &name.to_string_lossy()),
                    ProblemKind::Unreadable,
                    "the name is not UTF-8",
                ),
            },
            Err(error) => listing.problem(path, ProblemKind::Unreadable, error.to_string()),
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}
