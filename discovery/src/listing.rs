//! What listings of case files share: what is found, what is wrong, how directories are read, and which links are followed.

use std::fs::{FileType, Metadata};
use std::path::Path;

/// Deepest nesting of directories that is followed.
pub const MAX_DEPTH: usize = 32;

/// Maximum number of links to directories that are followed: links to directories with links double at every level.
const MAX_LINKS: usize = 1_000;

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
    /// The directories with these entries, relative to the suite root with `/` separators; also the one where a search began that does not
    /// exist.
    pub directories: Vec<String>,
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

/// A listing while it is made.
pub(crate) struct Search<'a> {
    pub(crate) root: &'a Path,
    /// The directory that links may not leave.
    pub(crate) boundary: &'a Path,
    /// Links to directories that were followed.
    links: usize,
    pub(crate) found: Listing,
}

impl<'a> Search<'a> {
    pub(crate) fn new(root: &'a Path, boundary: &'a Path) -> Self {
        Self { root, boundary, links: 0, found: Listing::default() }
    }

    pub(crate) fn problem(&mut self, path: impl Into<String>, kind: ProblemKind, message: impl Into<String>) {
        self.found.problems.push(Problem { path: path.into(), kind, message: message.into() });
    }

    /// Names of the entries of a directory, sorted; names that are not UTF-8 and read errors become problems.
    pub(crate) fn entries(&mut self, path: &str) -> Vec<(String, FileType)> {
        let read = match std::fs::read_dir(self.root.join(path)) {
            Ok(read) => read,
            Err(error) => {
                self.problem(path, ProblemKind::Unreadable, error.to_string());
                return Vec::new();
            }
        };
        let mut found = Vec::new();
        for entry in read {
            match entry.and_then(|entry| Ok((entry.file_type()?, entry.file_name().into_string()))) {
                Ok((kind, Ok(name))) => found.push((name, kind)),
                Ok((_, Err(name))) => {
                    let path = join(path, &name.to_string_lossy());
                    self.problem(path, ProblemKind::Unreadable, "the name is not UTF-8");
                }
                Err(error) => self.problem(path, ProblemKind::Unreadable, error.to_string()),
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }

    /// Whether directories are nested too deeply at `path`, which is then a problem.
    pub(crate) fn is_too_deep(&mut self, path: &str, depth: usize) -> bool {
        if depth > MAX_DEPTH {
            self.problem(path, ProblemKind::TooDeep, format!("directories are nested deeper than {MAX_DEPTH}"));
        }
        depth > MAX_DEPTH
    }

    /// What an entry is, links followed while they stay inside of the boundary. `None`: a problem was noted.
    pub(crate) fn resolve(&mut self, path: &str, kind: FileType) -> Option<FileType> {
        if !kind.is_symlink() {
            return Some(kind);
        }
        let problem = match self.root.join(path).canonicalize() {
            Ok(target) if self.boundary.canonicalize().is_ok_and(|boundary| target.starts_with(boundary)) => {
                return std::fs::metadata(&target).as_ref().map(Metadata::file_type).ok();
            }
            Ok(target) => format!("the link resolves to {}, outside the suite", target.display()),
            Err(error) => format!("the link is broken: {error}"),
        };
        self.problem(path, ProblemKind::Link, problem);
        None
    }

    /// Whether a link to a directory is followed. If not, a problem was noted.
    pub(crate) fn may_follow(&mut self, path: &str) -> bool {
        if self.is_loop(path) {
            self.problem(path, ProblemKind::Link, "the link points to a directory that contains it");
            return false;
        }
        if self.links == MAX_LINKS {
            self.problem(path, ProblemKind::TooDeep, format!("more than {MAX_LINKS} links to directories"));
        }
        self.links += 1;
        self.links <= MAX_LINKS
    }

    /// Whether a linked directory is one of its own ancestors.
    fn is_loop(&self, path: &str) -> bool {
        let link = self.root.join(path);
        let Ok(target) = link.canonicalize() else { return false };
        let parent = link.parent().and_then(|parent| parent.canonicalize().ok());
        parent.is_some_and(|parent| parent.starts_with(target))
    }
}

/// Joins a relative path and a name with `/`.
pub(crate) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}
