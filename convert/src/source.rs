//! What is converted, and the files that may be read for it.
//!
//! Not `walkdir`: a link is followed only where it stays in the directory of the source, and the number of entries has a limit.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use evalsuite_loader::document::{self, Document};
use evalsuite_schema::discovery::{MAX_DEPTH, Pattern, is_glob};

use crate::error::{ConvertError, Kind, OutsideReferences, SourceProblem};
use crate::report::Place;

/// Bytes of a file of a source, at most. The loader reads no larger file of a suite.
const MAX_BYTES: u64 = 16 << 20;

/// Bytes of all files of a source, at most.
const MAX_TOTAL: u64 = 128 << 20;

/// Bytes of the texts of all cases, at most: each case has its own copy of a text that several use.
const MAX_TEXTS: usize = 64 << 20;

/// Tests of a source, and cases that they become, at most: as many as a suite may have.
pub(crate) const MAX_CASES: usize = 10_000;

/// What is converted: a file or a directory, and the directories outside of it from which files may be copied.
#[derive(Debug, Clone)]
pub struct Source {
    pub(crate) path: PathBuf,
    allowed: Vec<PathBuf>,
}

impl Source {
    /// The file or directory at `path`. Files are read from its directory only.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), allowed: Vec::new() }
    }

    /// Lets files be copied from other directories, too.
    #[must_use]
    pub fn allow_outside(mut self, directories: impl IntoIterator<Item = PathBuf>) -> Self {
        self.allowed.extend(directories);
        self
    }
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Self {
        Self::new(path)
    }
}

impl From<&PathBuf> for Source {
    fn from(path: &PathBuf) -> Self {
        Self::new(path)
    }
}

/// The files of a source. Each is read through this, and has to be in the directory of the source or in one that is allowed, links resolved.
#[derive(Debug, Default)]
pub(crate) struct SourceFiles {
    root: PathBuf,
    real_root: PathBuf,
    /// The directories that are allowed, links resolved.
    allowed: Vec<PathBuf>,
    /// Files that were read from there.
    copied: RefCell<BTreeSet<PathBuf>>,
    outside: RefCell<OutsideReferences>,
    problems: RefCell<Vec<SourceProblem>>,
    bytes: Cell<u64>,
    /// Bytes of the texts of cases.
    taken: Cell<usize>,
    /// Entries of directories that were visited, and links to directories that were followed.
    entries: Cell<usize>,
    links: Cell<usize>,
}

impl SourceFiles {
    pub(crate) fn new(root: &Path, source: &Source) -> Result<Self, ConvertError> {
        let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
        let real = |path: &Path| path.canonicalize().map_err(|error| ConvertError::io(path, error));
        Ok(Self {
            root: root.to_owned(),
            real_root: real(root)?,
            allowed: source.allowed.iter().map(|path| real(path)).collect::<Result<_, _>>()?,
            ..Self::default()
        })
    }

    /// The directory of the source, as it was named.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The path as reports show it.
    pub(crate) fn shown(&self, path: &Path) -> String {
        shown(path, &self.root)
    }

    /// Whether what is at `path` may be read. If not, `reference` at `place`, which names it, is a problem.
    pub(crate) fn allows(&self, path: &Path, reference: &str, place: &Place) -> bool {
        let target = resolved(path);
        let mut directories = std::iter::once(&self.real_root).chain(&self.allowed);
        let is_inside = directories.any(|directory| target.starts_with(directory));
        if !is_inside {
            self.outside.borrow_mut().add(reference, target, place);
        }
        is_inside
    }

    /// Reports what makes the conversion impossible, each problem once.
    fn problem(&self, problem: SourceProblem) {
        let mut problems = self.problems.borrow_mut();
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }

    /// Reports a limit that is exceeded at `place`.
    pub(crate) fn too_much(&self, message: impl Into<String>, place: &Place) {
        self.problem(SourceProblem::new(message, place, "split the source, and convert the parts one by one"));
    }

    /// Counts the bytes of texts of a case, which is at `place`. False at the limit, which is a problem.
    pub(crate) fn takes(&self, bytes: usize, place: &Place) -> bool {
        self.taken.set(self.taken.get().saturating_add(bytes));
        let is_allowed = self.taken.get() <= MAX_TEXTS;
        if !is_allowed && self.problems.borrow().is_empty() {
            self.too_much(format!("the texts of all cases are larger than {} MiB", MAX_TEXTS >> 20), place);
        }
        is_allowed
    }

    /// A YAML or JSON file that `reference` at `place` names.
    pub(crate) fn document(&self, path: &Path, reference: &str, place: &Place) -> Result<Document, ConvertError> {
        self.enter(path, reference, place)?;
        document::read(path, &self.root).map_err(ConvertError::unreadable)
    }

    /// The same as programs in JavaScript read it.
    pub(crate) fn js_yaml(&self, path: &Path, reference: &str, place: &Place) -> Result<Document, ConvertError> {
        self.enter(path, reference, place)?;
        document::read_js_yaml(path, &self.root).map_err(ConvertError::unreadable)
    }

    /// A text file that `reference` at `place` names.
    pub(crate) fn text(&self, path: &Path, reference: &str, place: &Place) -> Result<String, ConvertError> {
        let bytes = self.bytes(path, reference, place)?;
        String::from_utf8(bytes)
            .map_err(|_| ConvertError::io(path, io::Error::new(io::ErrorKind::InvalidData, "it is not text")))
    }

    /// A file that `reference` at `place` names.
    pub(crate) fn bytes(&self, path: &Path, reference: &str, place: &Place) -> Result<Vec<u8>, ConvertError> {
        self.enter(path, reference, place)?;
        let read = || {
            let mut bytes = Vec::new();
            File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        read().map_err(|error| ConvertError::io(path, error))
    }

    /// Checks that a file may be read, and counts its bytes.
    fn enter(&self, path: &Path, reference: &str, place: &Place) -> Result<(), ConvertError> {
        if !self.allows(path, reference, place) {
            return Err(self.refusal());
        }
        let metadata = fs::metadata(path).map_err(|error| ConvertError::io(path, error))?;
        if !metadata.is_file() {
            return Err(ConvertError::io(path, io::Error::new(io::ErrorKind::InvalidInput, "it is not a file")));
        }
        self.bytes.set(self.bytes.get() + metadata.len());
        let too_much = match metadata.len() > MAX_BYTES {
            true => Some(format!("`{reference}` is larger than {} MiB", MAX_BYTES >> 20)),
            false if self.bytes.get() > MAX_TOTAL => {
                Some(format!("with `{reference}`, the files of the source are larger than {} MiB", MAX_TOTAL >> 20))
            }
            false => None,
        };
        if let Some(message) = too_much {
            self.too_much(message, place);
            return Err(self.refusal());
        }
        self.note_copy(path);
        Ok(())
    }

    /// Notes a file that is copied from outside of the directory of the source.
    fn note_copy(&self, path: &Path) {
        let target = resolved(path);
        if !target.starts_with(&self.real_root) {
            self.copied.borrow_mut().insert(target);
        }
    }

    fn all_problems(&self) -> Vec<SourceProblem> {
        let outside = self.outside.borrow().problem(&self.root);
        outside.into_iter().chain(self.problems.borrow().iter().cloned()).collect()
    }

    fn refusal(&self) -> ConvertError {
        ConvertError { kind: Kind::Refused(self.all_problems()) }
    }

    /// The files that were read from outside of the directory of the source.
    pub(crate) fn finish(self) -> Result<Vec<PathBuf>, ConvertError> {
        if self.all_problems().is_empty() {
            Ok(self.copied.into_inner().into_iter().collect())
        } else {
            Err(self.refusal())
        }
    }
}

/// The path with links resolved, as far as it exists, and without `..`.
fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let real = path.ancestors().find_map(|existing| Some((existing, existing.canonicalize().ok()?)));
    let Some((existing, mut resolved)) = real else { return path };
    for component in path.strip_prefix(existing).unwrap_or(Path::new("")).components() {
        match component {
            Component::ParentDir => drop(resolved.pop()),
            name => resolved.push(name),
        }
    }
    resolved
}

/// The paths in a directory, sorted.
pub(crate) fn sorted_entries(directory: &Path) -> Result<Vec<PathBuf>, ConvertError> {
    let read = || fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<io::Result<BTreeSet<PathBuf>>>();
    Ok(read().map_err(|error| ConvertError::io(directory, error))?.into_iter().collect())
}

/// The path as reports show it: relative to `root`, with `/`.
pub(crate) fn shown(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

/// Entries of directories that a conversion visits, at most.
const MAX_ENTRIES: usize = 100_000;

/// Links to directories that are followed, at most: links to directories with links double at every level.
const MAX_LINKS: usize = 1_000;

impl SourceFiles {
    /// The files below `directory` that `keeps` does not leave out, in the order of their names. `keeps` gets each path relative to it.
    pub(crate) fn below(&self, directory: &Path, place: &Place, keeps: impl Fn(&Path, bool) -> bool) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let reference = self.shown(directory);
        if directory.is_dir() && self.allows(directory, &reference, place) {
            let walk = Walk { files: self, top: directory, place, keeps: &keeps };
            walk.visit(directory, 0, &mut files);
        }
        files
    }

    /// The files that a path or pattern of `reference` leads to from `directory`, in the order of their names.
    pub(crate) fn matching(
        &self,
        pattern: &str,
        directory: &Path,
        reference: &str,
        place: &Place,
    ) -> Result<Vec<PathBuf>, String> {
        let path = directory.join(pattern);
        if path.is_file() {
            return Ok(if self.allows(&path, reference, place) { vec![path] } else { Vec::new() });
        }
        let is_special = |part: &str| is_glob(part) || part.contains('[');
        let parts: Vec<&str> = pattern.split('/').collect();
        let Some(first) = parts.iter().position(|part| is_special(part)) else {
            self.allows(&path, reference, place);
            return Ok(Vec::new());
        };
        // An absolute pattern starts with an empty part.
        let (fixed, rest) = (parts[..first].join("/"), parts[first..].join("/"));
        let top = directory.join(if pattern.starts_with('/') { format!("/{fixed}") } else { fixed });
        let compiled = Pattern::new(&rest)?;
        if !self.allows(&top, reference, place) {
            return Ok(Vec::new());
        }
        let levels = if rest.contains("**") { usize::MAX } else { rest.matches('/').count() };
        let keeps = |path: &Path, is_directory: bool| {
            let path = path.to_string_lossy().replace('\\', "/");
            let is_hidden = path.rsplit('/').next().is_some_and(|name| name.starts_with('.'));
            !is_hidden && if is_directory { path.matches('/').count() < levels } else { compiled.is_match(&path) }
        };
        Ok(self.below(&top, place, keeps))
    }
}

struct Walk<'a, K> {
    files: &'a SourceFiles,
    top: &'a Path,
    place: &'a Place,
    keeps: &'a K,
}

impl<K: Fn(&Path, bool) -> bool> Walk<'_, K> {
    /// Adds the files below `directory`; false at the limit of entries.
    fn visit(&self, directory: &Path, depth: usize, found: &mut Vec<PathBuf>) -> bool {
        if depth > MAX_DEPTH {
            let shown = self.files.shown(directory);
            return self.limit(&format!("`{shown}`: directories are nested deeper than {MAX_DEPTH}"));
        }
        // What cannot be read has no files.
        let Ok(entries) = fs::read_dir(directory) else { return true };
        let mut children = Vec::new();
        for entry in entries.flatten() {
            self.files.entries.set(self.files.entries.get() + 1);
            if self.files.entries.get() > MAX_ENTRIES {
                let shown = self.files.shown(self.top);
                return self.limit(&format!("more than {MAX_ENTRIES} files and directories are below `{shown}`"));
            }
            children.push((entry.path(), entry.file_type()));
        }
        children.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (path, kind) in children {
            let Ok(kind) = kind else { continue };
            let is_directory = kind.is_dir() || kind.is_symlink() && path.is_dir();
            let below = path.strip_prefix(self.top).unwrap_or(&path);
            if !(self.keeps)(below, is_directory) {
                continue;
            }
            if kind.is_symlink() && !self.follows(&path, is_directory) {
                continue;
            }
            if is_directory {
                if !self.visit(&path, depth + 1, found) {
                    return false;
                }
            } else if path.is_file() {
                found.push(path);
            }
        }
        true
    }

    /// Whether a link is followed. One that leads out is a problem.
    fn follows(&self, link: &Path, is_directory: bool) -> bool {
        if !self.files.allows(link, &self.files.shown(link), self.place) {
            return false;
        }
        if !is_directory {
            return true;
        }
        // A link to a directory that contains it.
        if link.parent().is_some_and(|parent| resolved(parent).starts_with(resolved(link))) {
            return false;
        }
        self.files.links.set(self.files.links.get() + 1);
        self.files.links.get() <= MAX_LINKS || self.limit(&format!("more than {MAX_LINKS} links to directories"))
    }

    fn limit(&self, message: &str) -> bool {
        let help = "name the directory that has the files, and no other";
        self.files.problem(SourceProblem::new(message, self.place, help));
        false
    }
}
