//! What listings of case files share: what is found, what is wrong, how directories are read, once and on several threads, and which links
//! are followed.

use std::ffi::OsString;
use std::fs::{self, FileType, Metadata};
use std::path::{Component, Path};

/// Deepest nesting of directories that is followed.
pub const MAX_DEPTH: usize = 32;

/// Maximum number of links to directories that are followed: links to directories with links double at every level.
const MAX_LINKS: usize = 1_000;

/// Entries of directories that a pattern visits, at most.
pub const MAX_VISITED: usize = 100_000;

/// What [`super::list`] found.
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

/// Entries of a directory whose files are looked at in less time than a thread takes to start.
pub(crate) const ENTRIES_PER_THREAD: usize = 200;

/// The number of processors.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The results of `work` for parts of the items, in their order. As many as `threads` work, each on at least `few` items.
pub fn in_parts<T: Sync, R: Send>(
    items: &[T],
    few: usize,
    threads: impl FnOnce() -> usize,
    work: impl Fn(&[T]) -> R + Sync,
) -> Vec<R> {
    let most = items.len() / few;
    if most < 2 {
        // The number of processors takes longer to find out than a small directory.
        return vec![work(items)];
    }
    let mut parts = items.chunks(items.len().div_ceil(threads().clamp(1, most)));
    let first = parts.next().unwrap_or_default();
    std::thread::scope(|scope| {
        let others: Vec<_> = parts.map(|part| scope.spawn(|| work(part))).collect();
        let mut results = vec![work(first)];
        for other in others {
            results.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    })
}

/// The entries of a directory, and of all directories below it. Links are not followed, and what cannot be read is left out.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// In the order of their names.
    pub(crate) entries: Vec<TreeEntry>,
}

#[derive(Debug, Clone)]
pub(crate) struct TreeEntry {
    pub(crate) name: OsString,
    pub(crate) kind: FileType,
    /// Empty unless this is a directory.
    pub(crate) below: Tree,
}

impl Tree {
    /// Reads a directory, on all processors if it is large.
    pub fn read(directory: &Path) -> Self {
        let Ok(entries) = fs::read_dir(directory) else { return Self::default() };
        let mut here: Vec<(OsString, FileType)> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                Some((entry.file_name(), entry.file_type().ok()?))
            })
            .collect();
        here.sort_by(|(one, _), (other, _)| one.cmp(other));
        let entry = |(name, kind): &(OsString, FileType)| TreeEntry {
            name: name.clone(),
            kind: *kind,
            below: if kind.is_dir() { Self::read(&directory.join(name)) } else { Self::default() },
        };
        let parts = in_parts(&here, ENTRIES_PER_THREAD, processors, |part| part.iter().map(entry).collect::<Vec<_>>());
        Self { entries: parts.into_iter().flatten().collect() }
    }

    /// What was read of the directory at a relative path. `None`: none was read there, since the path leads outside or through a link.
    pub fn at(&self, path: &Path) -> Option<&Self> {
        path.components().try_fold(self, |tree, part| match part {
            Component::CurDir => Some(tree),
            Component::Normal(name) => {
                let entry = tree.entries.iter().find(|entry| entry.name == name)?;
                entry.kind.is_dir().then_some(&entry.below)
            }
            _ => None,
        })
    }

    /// Number of entries, those of all directories.
    pub(crate) fn len(&self) -> usize {
        self.entries.iter().map(|entry| 1 + entry.below.len()).sum()
    }

    /// Whether there is a link anywhere.
    pub(crate) fn has_link(&self) -> bool {
        self.entries.iter().any(|entry| entry.kind.is_symlink() || entry.below.has_link())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_what_was_read_there() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("a/b/c")).unwrap();
        fs::write(root.path().join("a/file"), "").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("a", root.path().join("link")).unwrap();
        let tree = Tree::read(root.path());
        let names = |path: &str| {
            let tree = tree.at(Path::new(path))?;
            Some(tree.entries.iter().map(|entry| entry.name.to_str().unwrap()).collect::<Vec<_>>())
        };
        assert_eq!(names("./a/").unwrap(), ["b", "file"]);
        assert_eq!(names("a/b").unwrap(), ["c"]);
        assert_eq!(names("").map(|names| names.len()), Some(if cfg!(unix) { 2 } else { 1 }));
        for path in ["a/file", "a/nothing", "../a", "link", "link/b", "/a"] {
            assert_eq!(names(path), None, "{path}");
        }
    }
}
