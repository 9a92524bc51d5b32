//! Paths named by files: where they are searched, and what they may not leave. A file that several cases name is read, registered and
//! checked once.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use evalsuite_schema::diagnostics::{counted, suggest};
use evalsuite_schema::discovery::has_names_of_disk;
use evalsuite_schema::{PathRef, Value};

use crate::diagnostic::{Code, Diagnostic, Diagnostics, are_many, in_place_of};
use crate::fields::pattern::CompiledPatterns;
use crate::fields::{self, values};
use crate::read;
use crate::read::node::Node;
use crate::request::Request;
use crate::source::{FileId, Files, Span, relative_to};

pub(crate) use evalsuite_schema::discovery::normalize;

/// Maximum number of directories that a help text lists.
const MAX_PLACES: usize = 6;

/// What a path has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathKind {
    File,
    Directory,
    Any,
}

impl PathKind {
    fn noun(self) -> &'static str {
        match self {
            PathKind::File => "file",
            PathKind::Directory => "directory",
            PathKind::Any => "file or directory",
        }
    }

    fn fits(self, path: &Path) -> bool {
        match self {
            PathKind::File => path.is_file(),
            PathKind::Directory => path.is_dir(),
            PathKind::Any => true,
        }
    }
}

/// The directories in which paths of one suite are searched.
#[derive(Debug, Clone)]
pub(crate) struct Roots {
    /// Every path that is found is inside, with links followed.
    pub(crate) boundary: PathBuf,
    /// `boundary` with links followed.
    pub(crate) real_boundary: PathBuf,
    /// Paths in the compiled suite are relative to it, if they are inside.
    pub(crate) package_root: PathBuf,
    /// The suite's directory.
    pub(crate) suite_root: PathBuf,
    /// The eval file's directory.
    pub(crate) eval_dir: PathBuf,
    /// Tasks layout: only the suite root is searched.
    pub(crate) only_root: bool,
}

impl Roots {
    /// The roots of a file that belongs to no suite: its paths may point anywhere in its package, or in its directory if it
    /// is outside of a package.
    pub(crate) fn of_file(path: &Path, package_root: &Path) -> Self {
        let directory = path.parent().unwrap_or(path).to_path_buf();
        let boundary = if directory.starts_with(package_root) { package_root } else { &directory };
        Self {
            boundary: boundary.to_path_buf(),
            real_boundary: boundary.canonicalize().unwrap_or_else(|_| boundary.to_path_buf()),
            package_root: package_root.to_path_buf(),
            suite_root: directory.clone(),
            eval_dir: directory,
            only_root: false,
        }
    }

    /// The directories searched for a path written in a file of `from`, first to last.
    pub(crate) fn search(&self, from: &Path) -> Vec<PathBuf> {
        if self.only_root {
            return vec![self.suite_root.clone()];
        }
        let mut places = vec![from.to_path_buf()];
        for parent in self.eval_dir.ancestors().take_while(|parent| parent.starts_with(&self.boundary)) {
            if places.iter().all(|place| place != parent) {
                places.push(parent.to_path_buf());
            }
        }
        places
    }

    /// How the compiled suite names a path: relative to the package root, absolute outside.
    pub(crate) fn compiled(&self, path: &Path) -> String {
        relative_to(&self.package_root, path)
    }

    /// A path relative to the suite root, with `/` separators.
    pub(crate) fn in_suite(&self, path: &Path) -> String {
        relative_to(&self.suite_root, path)
    }

    /// Why `path`, shown as `written`, may not be read although it exists: a link leads out of the boundary, in circles or
    /// nowhere.
    pub(crate) fn escape(&self, path: &Path, written: &str) -> Option<String> {
        match path.canonicalize() {
            Ok(real) if real.starts_with(&self.real_boundary) => None,
            Ok(real) => Some(format!("`{written}` resolves to `{}`, outside the {}", real.display(), self.outer())),
            Err(_) => Some(format!("`{written}` is a broken link")),
        }
    }

    fn outer(&self) -> &'static str {
        if self.only_root || self.boundary == self.suite_root { "suite" } else { "package" }
    }
}

/// The last component of a path; what is not UTF-8 is replaced.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The last component of a path without its extension and `.eval`.
pub(crate) fn file_stem(path: &Path) -> String {
    evalsuite_schema::discovery::stem(&file_name(path)).to_owned()
}

/// A path that was found.
#[derive(Debug, Clone)]
pub(crate) struct FoundPath {
    pub(crate) path: PathBuf,
    pub(crate) reference: PathRef,
}

/// How a search ended without a result.
pub(crate) enum SearchFailure {
    /// The path is absolute, or outside the boundary.
    Escape(String),
    /// None of these paths exists.
    Missing(Vec<PathBuf>),
    /// There is something of another kind.
    WrongKind(PathBuf),
}

thread_local! {
    /// A case is read by one thread.
    static LOOKUPS: Cell<usize> = const { Cell::new(0) };
}

/// Number of paths that this thread has searched.
pub(crate) fn lookups() -> usize {
    LOOKUPS.get()
}

/// Whether a path starts at a root or on a drive.
pub(crate) fn is_absolute(written: &str) -> bool {
    let has_drive = matches!(written.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    written.starts_with(['/', '\\']) || has_drive
}

/// What makes a path one that is not relative.
pub(crate) fn not_relative(written: &str) -> Option<String> {
    if is_absolute(written) {
        Some(format!("`{written}` is an absolute path"))
    } else if written == "~" || written.starts_with("~/") {
        Some(format!("`{written}` is in a home directory"))
    } else if written.contains('\0') {
        Some("a path cannot contain a NUL character".to_owned())
    } else {
        None
    }
}

/// The directories and files around one file of a suite, in which its paths are searched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) request: &'a Request,
    pub(crate) roots: &'a Roots,
    pub(crate) files: &'a Files,
    pub(crate) shared: &'a SharedFiles,
    /// Directory of the file.
    pub(crate) dir: &'a Path,
    /// Variables of the case that is read.
    pub(crate) vars: Option<&'a Node>,
}

impl<'a> Scope<'a> {
    /// The same for a file in another directory.
    pub(crate) fn at(self, dir: &'a Path) -> Self {
        Self { dir, ..self }
    }

    /// Finds the path that `node` names; `what` is its key.
    pub(crate) fn find(&self, node: &Node, what: &str, kind: PathKind, d: &mut Diagnostics) -> Option<FoundPath> {
        let written = fields::literal_text(node, what, d)?;
        self.find_text(&written, node, what, (Code::MissingPath, kind), d)
    }

    /// As [`Scope::find`] for a file of a message, whose path may start with `/`: the boundary is then searched first.
    pub(crate) fn find_in_message(&self, node: &Node, what: &str, d: &mut Diagnostics) -> Option<FoundPath> {
        let written = fields::literal_text(node, what, d)?;
        let expected = (Code::MissingPath, PathKind::File);
        let Some(rest) = written.trim().strip_prefix('/') else {
            return self.find_text(&written, node, what, expected, d);
        };
        let mut places = self.roots.search(self.dir);
        places.retain(|place| *place != self.roots.boundary);
        places.insert(0, self.roots.boundary.clone());
        let found = self.search(rest.trim_start_matches('/'), PathKind::File, &places);
        let found = found.map_err(|miss| self.report(miss, &written, node, what, expected, d)).ok()?;
        Some(FoundPath { reference: PathRef::found(written, found.reference.path), ..found })
    }

    /// Searches a relative path in `places`; the first existing entry wins.
    pub(crate) fn search(&self, written: &str, kind: PathKind, places: &[PathBuf]) -> Result<FoundPath, SearchFailure> {
        if let Some(reason) = not_relative(written) {
            return Err(SearchFailure::Escape(reason));
        }
        LOOKUPS.set(LOOKUPS.get() + 1);
        let (boundary, mut tried, mut escaped) = (&self.roots.boundary, Vec::new(), false);
        let leaves = || SearchFailure::Escape(format!("`{written}` leaves the {}", self.roots.outer()));
        for place in places {
            let path = normalize(&place.join(written));
            let exists = path.symlink_metadata().is_ok();
            if !path.starts_with(boundary) {
                if exists {
                    return Err(leaves());
                }
                escaped = true;
                continue;
            }
            // The same paths are found on every system.
            let is_spelled = || !(cfg!(windows) && written.contains('\\')) && has_names_of_disk(boundary, &path);
            if !exists || !is_spelled() {
                tried.push(path);
                continue;
            }
            if let Some(reason) = self.roots.escape(&path, written) {
                return Err(SearchFailure::Escape(reason));
            }
            if !kind.fits(&path) {
                return Err(SearchFailure::WrongKind(path));
            }
            self.note_missed(&tried);
            let reference = PathRef::found(written, self.roots.compiled(&path));
            return Ok(FoundPath { path, reference });
        }
        Err(if escaped && tried.is_empty() { leaves() } else { SearchFailure::Missing(tried) })
    }

    /// Registers missing paths that would take precedence over the one that was found if they were created.
    pub(crate) fn note_missed(&self, places: &[PathBuf]) {
        for place in places {
            self.files.add(place);
        }
    }

    /// As [`Scope::find`] for a path that was already taken out of its node, with the code for one that is not there.
    pub(crate) fn find_text(
        &self,
        written: &str,
        node: &Node,
        what: &str,
        (code, kind): (Code, PathKind),
        d: &mut Diagnostics,
    ) -> Option<FoundPath> {
        let found = self.search(written.trim(), kind, &self.roots.search(self.dir));
        found.map_err(|miss| self.report(miss, written, node, what, (code, kind), d)).ok()
    }

    /// The path that was meant and exists, and what to change: it has no `file://`, and `/` between its parts.
    fn respelled(&self, written: &str) -> Option<(&'static str, String)> {
        let (change, path) = match written.trim().strip_prefix("file://") {
            Some(path) => ("leave out `file://`", path.to_owned()),
            None => ("write `/` between directories", written.replace('\\', "/")),
        };
        let is_meant = path != written && not_relative(&path).is_none();
        let exists = || self.roots.search(self.dir).iter().any(|place| place.join(&path).exists());
        (is_meant && exists()).then_some((change, path))
    }

    /// Reports a failed search.
    pub(crate) fn report(
        &self,
        miss: SearchFailure,
        written: &str,
        node: &Node,
        what: &str,
        (code, kind): (Code, PathKind),
        d: &mut Diagnostics,
    ) {
        let noun = kind.noun();
        let (code, message, help, fix) = match miss {
            SearchFailure::Escape(reason) => {
                let help = "copy the file into the suite and name it by a relative path".to_owned();
                (Code::PathEscape, reason, help, None)
            }
            SearchFailure::WrongKind(path) => {
                let message = format!("`{}` is not a {noun}", self.files.shown(&path));
                (code, message, format!("name a {noun}"), None)
            }
            SearchFailure::Missing(tried) => {
                let message = format!("{noun} `{written}` not found");
                // Looking for a near name lists a directory.
                let is_slow = are_many(d);
                // Not the directory of the file itself, whose name is near where a directory is called like the suite.
                let is_meant = |path: &Path| kind.fits(path) && !self.dir.starts_with(path);
                match self.respelled(written).filter(|_| !is_slow) {
                    Some((change, path)) => {
                        let help = format!("{change}: `{path}`");
                        // What is before the path in the text stays.
                        let before = node.as_str().and_then(|text| text.strip_suffix(written));
                        let before = before.filter(|_| !path.contains(['"', '\'', '\\']));
                        let quote = if values::is_quoted(node) { "\"" } else { "" };
                        let text = before.map(|before| format!("{quote}{before}{path}{quote}"));
                        (code, message, help, text.and_then(|text| in_place_of(node.span, text)))
                    }
                    None => {
                        let near = tried.iter().filter(|_| !is_slow).find_map(|path| nearest_entry(path, is_meant));
                        (code, message, self.tried(&tried, near.as_deref()), None)
                    }
                }
            }
        };
        d.push(Diagnostic::new(code, format!("{what}: {message}")).at(node.span).help(help).fix_if(fix));
    }

    /// Help for something that is at none of the places `tried`: the nearest name there is, and the places.
    pub(crate) fn tried(&self, tried: &[PathBuf], near: Option<&str>) -> String {
        let mut places: Vec<String> =
            tried.iter().take(MAX_PLACES).map(|path| format!("`{}`", self.files.shown(path))).collect();
        if let Some(more) = tried.len().checked_sub(MAX_PLACES).filter(|more| *more > 0) {
            places.push(counted(more, "more place"));
        }
        let last = places.pop().unwrap_or_default();
        let places = if places.is_empty() { last } else { format!("{} and {last}", places.join(", ")) };
        near.map_or_else(|| format!("tried {places}"), |name| format!("did you mean `{name}`? tried {places}"))
    }
}

/// The entry of the path's directory whose name is closest to the path's, of those that `is_meant`.
pub(crate) fn nearest_entry(path: &Path, is_meant: impl Fn(&Path) -> bool) -> Option<String> {
    let (name, directory) = (path.file_name()?.to_str()?, path.parent()?);
    let entries = std::fs::read_dir(directory).ok()?;
    let mut names: Vec<String> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let nearest = suggest::nearest(name, names.iter().map(String::as_str));
    nearest.into_iter().find(|name| is_meant(&directory.join(name))).map(str::to_owned)
}

/// A text file that was read.
pub(crate) type Text = (FileId, Arc<str>);

/// Maximum size in bytes of all copies of shared text and settings.
const MAX_COPIED: usize = 128 << 20;

/// Takes a JSON schema from the root of its file.
type Check = fn(&Node, &CompiledPatterns, &mut Diagnostics) -> Option<Value>;

/// The content of files that were read; `None` for those with problems.
type ReadOnce<T> = Mutex<BTreeMap<PathBuf, Option<T>>>;

/// The content of the file at `path`, which `read` returns the first time it is asked for.
fn read_once<T: Clone>(known: &ReadOnce<T>, path: &Path, read: impl FnOnce() -> Option<T>) -> Option<T> {
    // The lock is held while reading, so that a file never gets two ids, whatever threads do.
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(path.to_path_buf()).or_insert_with(read).clone()
}

/// Files that cases name: each is read and registered once, and its problems are reported once.
#[derive(Debug, Default)]
pub(crate) struct SharedFiles {
    texts: ReadOnce<Text>,
    trees: ReadOnce<Arc<Node>>,
    schemas: ReadOnce<Arc<Value>>,
    copied: AtomicUsize,
    /// Problems of templates, which are reported where a case names the template: cases share a template of many files.
    templates: ReadOnce<Arc<[Diagnostic]>>,
    /// Entries of directories that patterns of `tests` visited.
    pub(crate) visited: AtomicUsize,
    /// The regular expressions of all files.
    pub(crate) patterns: CompiledPatterns,
}

impl SharedFiles {
    /// Whether `bytes` more may be copied from the value at `span`: a few lines can ask for more copies than
    /// fit in memory. The first copy beyond the limit is reported.
    pub(crate) fn may_copy(&self, bytes: usize, span: Span, d: &mut Diagnostics) -> bool {
        let before = self.copied.fetch_add(bytes, Ordering::Relaxed);
        let after = before.saturating_add(bytes);
        if before <= MAX_COPIED && after > MAX_COPIED {
            let message = format!("what cases share adds up to more than {} MiB of copies", MAX_COPIED >> 20);
            d.report(Code::LimitExceeded, span, message, "shorten it, or let fewer cases use it");
        }
        after <= MAX_COPIED
    }

    /// Whether the limit of copies is reached, which was reported.
    pub(crate) fn is_full(&self) -> bool {
        self.copied() > MAX_COPIED
    }

    /// Number of bytes copied so far.
    pub(crate) fn copied(&self) -> usize {
        self.copied.load(Ordering::Relaxed)
    }

    /// The problems of a template, which `find` looks for the first time it is asked for.
    pub(crate) fn template(&self, path: &Path, find: impl FnOnce() -> Vec<Diagnostic>) -> Arc<[Diagnostic]> {
        read_once(&self.templates, path, || Some(find().into())).unwrap_or_default()
    }

    /// A text file. `None`: a problem was reported, now or before.
    pub(crate) fn text(&self, path: &Path, files: &Files, d: &mut Diagnostics) -> Option<Text> {
        read_once(&self.texts, path, || read::read_text(path, files, d))
    }

    /// A YAML file. `None`: a problem was reported, now or before.
    pub(crate) fn tree(&self, path: &Path, files: &Files, d: &mut Diagnostics) -> Option<Arc<Node>> {
        read_once(&self.trees, path, || {
            let (file, text) = read::read_text(path, files, d)?;
            read::parse_yaml(file, &text, d).map(Arc::new)
        })
    }

    /// The JSON schema of a JSON or YAML file, which `check` takes from the root. `None`: a problem was reported, now or before.
    pub(crate) fn schema(&self, path: &Path, check: Check, files: &Files, d: &mut Diagnostics) -> Option<Arc<Value>> {
        let is_json = path.extension().is_some_and(|extension| extension == "json");
        let parse = if is_json { read::parse_json } else { read::parse_yaml };
        read_once(&self.schemas, path, || {
            let (file, text) = read::read_text(path, files, d)?;
            check(&parse(file, &text, d)?, &self.patterns, d).map(Arc::new)
        })
    }
}
