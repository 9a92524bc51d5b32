//! The files that cases need beside what they say: they are embedded in the test program, for a machine without the suite.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use evalsuite_loader::source::Files;
use evalsuite_loader::{LoadedTargets, Request};
use evalsuite_schema::diagnostics::{Code, Diagnostic, SourceRange};
use evalsuite_schema::discovery::with_slashes;
use evalsuite_schema::embedded::{self, EmbeddedKind, Header};
use evalsuite_schema::json::{FromJsonOverDefault, ToJson};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::sorting::{set, sort_by};
use evalsuite_schema::{HealthProbe, PathRef, Provider, TargetsFile};
use walkdir::WalkDir;

use crate::replaced_file;
use crate::rust_literals::string_literal;

#[cfg(not(unix))]
use mode_by_content as mode;

/// Most bytes of one suite.
const MAX_BYTES: u64 = 32 * 1024 * 1024;
/// Most files, directories and links of one suite: the compiler opens each of them.
const MAX_ENTRIES: usize = 10_000;

/// What is embedded, or why nothing is.
type Gathered = Result<Contents, Box<Diagnostic>>;

/// What the cases in the texts of a suite need, whose directory in the package is `root`.
pub(crate) fn gather(texts: &[impl AsRef<str>], root: &str, request: &Request, files: &Files) -> Gathered {
    let mut contents = Contents::new(&request.package_root, root);
    let found = references(texts).into_iter().try_for_each(|reference| contents.add(&reference));
    checked(found.map(|()| contents), files, &request.package_root.join(root))
}

/// The targets file at a path in the package, with the directories of its commands; nothing for a file outside of the package.
pub(crate) fn command_files(file: &Path, loaded: &LoadedTargets, request: &Request) -> Gathered {
    let root = file.parent().and_then(|folder| folder.strip_prefix(&request.package_root).ok()).and_then(Path::to_str);
    let path = file.strip_prefix(&request.package_root).ok().and_then(Path::to_str);
    let (Some(root), Some(path)) = (root, path) else { return Ok(Contents::default()) };
    let mut contents = Contents::new(&request.package_root, root);
    let written = Reference { path: path.replace('\\', "/"), need: Need::Content };
    let directories = loaded
        .targets
        .iter()
        .flat_map(directories)
        .filter(|directory| !Syntax::Variable.is_in(&directory.path))
        .map(|directory| Reference { path: directory.path.clone(), need: Need::WorkingDirectory });
    let found = std::iter::once(written).chain(directories).try_for_each(|reference| contents.add(&reference));
    checked(found.map(|()| contents), &loaded.files, file)
}

fn directories(targets: &TargetsFile) -> impl Iterator<Item = &PathRef> {
    targets.targets.iter().flat_map(|entry| {
        let (cwd, check) = match &entry.provider {
            Provider::Cli(target) => (&target.cwd, &target.healthcheck),
            Provider::Acp(target) => (&target.cwd, &target.healthcheck),
            Provider::Alias(_) | Provider::Other(_) => return [None, None].into_iter().flatten(),
        };
        let of_check = check.as_ref().and_then(|check| match &check.probe {
            HealthProbe::Command { cwd, .. } => cwd.as_ref(),
            HealthProbe::Url(_) => None,
        });
        [cwd.as_ref(), of_check].into_iter().flatten()
    })
}

/// What was found, unless it is too much for a program.
fn checked(found: io::Result<Contents>, files: &Files, root: &Path) -> Gathered {
    let (problem, largest) = match found {
        Err(error) => (format!("the files that cases need cannot be embedded: {error}"), String::new()),
        Ok(contents) => {
            let (bytes, count) = (contents.bytes(), contents.entries.len());
            let problem = if bytes > MAX_BYTES {
                let (bytes, most) = (megabytes(bytes), megabytes(MAX_BYTES));
                format!("the files that cases need are {bytes}, more than the {most} of a suite that are embedded")
            } else if count > MAX_ENTRIES {
                format!("cases need {count} files, more than the {MAX_ENTRIES} of a suite that are embedded")
            } else {
                return Ok(contents);
            };
            (problem, largest(&contents, files))
        }
    };
    let help = format!("write `embed = off`: the tests then need the suite's directory where they run{largest}");
    let place = SourceRange::whole(files.shown(root));
    Err(Box::new(Diagnostic::new(Code::NotEmbedded, problem).at(place).help(help)))
}

fn largest(contents: &Contents, files: &Files) -> String {
    let largest: Vec<String> =
        contents.largest().map(|(path, bytes)| format!("`{}` ({})", files.shown(path), megabytes(bytes))).collect();
    match largest.as_slice() {
        [] => String::new(),
        some => format!("; the largest are {}", some.join(", ")),
    }
}

#[allow(clippy::cast_precision_loss, reason = "one decimal is shown")]
fn megabytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / (1024.0 * 1024.0))
}

/// Everything a suite's cases need, by path: sorted, so that the same files make the same program.
#[derive(Debug, Clone, Default)]
pub(crate) struct Contents {
    package_root: PathBuf,
    suite_root: PathBuf,
    entries: BTreeMap<String, ContentEntry>,
}

#[derive(Debug, Clone)]
struct ContentEntry {
    source: PathBuf,
    kind: EmbeddedKind,
    mode: u32,
    /// Bytes of a file.
    size: u64,
    /// What a link leads to.
    destination: String,
}

impl Contents {
    fn new(package_root: &Path, suite_root: &str) -> Self {
        let (package_root, suite_root) = (package_root.to_path_buf(), package_root.join(suite_root));
        Self { package_root, suite_root, entries: BTreeMap::new() }
    }

    /// Adds what a case names. A missing path is reported where it is used.
    fn add(&mut self, reference: &Reference) -> io::Result<()> {
        let (path, source) = (&reference.path, self.package_root.join(&reference.path));
        let Ok(metadata) = fs::metadata(&source) else { return Ok(()) };
        // Of the suite's own directory only what is named somewhere is needed.
        let is_whole = reference.need != Need::WorkingDirectory || !self.suite_root.starts_with(&source);
        if metadata.is_dir() && is_whole {
            self.add_tree(&source, path, reference.need == Need::Repository)?;
        }
        self.insert(path.clone(), source, &metadata)
    }

    /// Adds everything below `directory`.
    fn add_tree(&mut self, directory: &Path, path: &str, with_git: bool) -> io::Result<()> {
        let tree = WalkDir::new(directory).min_depth(1).into_iter();
        for entry in tree.filter_entry(|entry| with_git || entry.file_name() != ".git") {
            let entry = entry?;
            let below = entry.path().strip_prefix(directory).map_err(io::Error::other)?;
            let path = format!("{path}/{}", utf8(below, entry.path())?);
            let metadata = entry.metadata()?;
            self.insert(path, entry.into_path(), &metadata)?;
        }
        Ok(())
    }

    /// Adds a file, directory or link.
    fn insert(&mut self, path: String, source: PathBuf, metadata: &Metadata) -> io::Result<()> {
        let (kind, size, destination) = if metadata.is_symlink() {
            let destination = fs::read_link(&source).map_err(|error| error_at(&source, &error))?;
            (EmbeddedKind::Link, 0, utf8(&destination, &source)?)
        } else if metadata.is_dir() {
            (EmbeddedKind::Directory, 0, String::new())
        } else if metadata.is_file() {
            (EmbeddedKind::File, metadata.len(), String::new())
        } else {
            return Ok(());
        };
        let mode = mode(metadata, &source);
        self.entries.insert(path, ContentEntry { source, kind, mode, size, destination });
        Ok(())
    }

    /// The bytes of all files.
    fn bytes(&self) -> u64 {
        self.entries.values().fold(0, |bytes, entry| bytes.saturating_add(entry.size))
    }

    /// Where every entry is on disk.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Path> {
        self.entries.values().map(|entry| entry.source.as_path())
    }

    /// The files that matter: those with a twentieth of the bytes or more, at most three.
    fn largest(&self) -> impl Iterator<Item = (&Path, u64)> {
        let least = (self.bytes() / 20).max(1);
        let mut entries: Vec<&ContentEntry> = self.entries.values().filter(|entry| entry.size >= least).collect();
        sort_by(&mut entries, |one, other| other.size.cmp(&one.size));
        entries.into_iter().take(3).map(|entry| (entry.source.as_path(), entry.size))
    }

    /// Adds everything of `more`.
    pub(crate) fn extend(&mut self, more: Self) {
        self.entries.extend(more.entries);
    }

    /// Files that the code includes by itself.
    pub(crate) fn files(&self) -> impl Iterator<Item = PathBuf> {
        let files = self.entries.values().filter(|entry| entry.kind == EmbeddedKind::File);
        files.map(|entry| entry.source.clone())
    }

    /// The elements of the Rust expression that includes each file.
    fn pairs(&self) -> String {
        let pair = |(path, entry): (&String, &ContentEntry)| {
            let bytes = match (entry.kind, entry.source.to_str()) {
                (EmbeddedKind::File, Some(source)) => format!("::core::include_bytes!({})", string_literal(source)),
                (EmbeddedKind::Link, _) => format!("str::as_bytes({})", string_literal(&entry.destination)),
                (EmbeddedKind::Directory | EmbeddedKind::File, _) => "&[]".to_owned(),
            };
            format!("({}, {bytes}), ", string_literal(&entry.header(path)))
        };
        self.entries.iter().map(pair).collect()
    }

    /// Writes everything as one archive, unless there is nothing to write. An archive with the same content is left unchanged.
    fn write_archive(&self, path: &Path) -> io::Result<bool> {
        if self.entries.is_empty() {
            return Ok(false);
        }
        let mut archive = Vec::new();
        for (path, entry) in &self.entries {
            let header = entry.header(path);
            let bytes: &[u8] = match entry.kind {
                EmbeddedKind::File => &fs::read(&entry.source).map_err(|error| error_at(&entry.source, &error))?,
                EmbeddedKind::Directory => &[],
                EmbeddedKind::Link => entry.destination.as_bytes(),
            };
            embedded::push(&mut archive, (&header, bytes));
        }
        // As old as the newest of its files: cargo compiles a crate again that includes a file which was written while it was compiled.
        let modified = |source| fs::symlink_metadata(source).and_then(|it| it.modified()).ok();
        let newest = || self.sources().filter_map(modified).max().or(Some(SystemTime::UNIX_EPOCH));
        replaced_file::write_if_changed(path, &archive, newest)?;
        Ok(true)
    }
}

/// How the files that a suite's cases need get into the program.
#[derive(Debug, Clone, Default, ToJson, FromJsonOverDefault)]
pub(crate) struct Embedded {
    /// The archive of files that was written to this path in OUT_DIR.
    pub(crate) archive: Option<String>,
    /// The files that are not in the archive, one by one.
    #[json(skip)]
    pub(crate) files: Contents,
}

impl Embedded {
    /// The Rust expression of the suite's field.
    pub(crate) fn expression(&self) -> String {
        let archive = self.archive.as_ref().map(|path| {
            let path = string_literal(&format!("/{path}"));
            format!("(\"archive\", ::core::include_bytes!(::core::concat!(::core::env!(\"OUT_DIR\"), {path}))), ")
        });
        format!("::core::option::Option::Some(&[{}{}])", archive.unwrap_or_default(), self.files.pairs())
    }

    /// With an archive at `name` in OUT_DIR in place of single files.
    pub(crate) fn into_archive(self, out_dir: &Path, name: &str) -> io::Result<Self> {
        let is_written = self.archive.is_none() && self.files.write_archive(&out_dir.join(name))?;
        Ok(if is_written { Self { archive: Some(name.to_owned()), files: Contents::default() } } else { self })
    }
}

/// A path in or at `source` with `/` separators.
fn utf8(path: &Path, source: &Path) -> io::Result<String> {
    path.to_str().ok_or_else(|| io::Error::other(format!("{} is not UTF-8", source.display())))?;
    Ok(with_slashes(path))
}

fn error_at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

impl ContentEntry {
    fn header(&self, path: &str) -> String {
        Header { kind: self.kind, mode: self.mode, path }.to_string()
    }
}

/// Permissions without those to write for group and others: they depend on the umask of whoever checked the files out, and the same files have to make the
/// same program.
#[cfg(unix)]
fn mode(metadata: &Metadata, _: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    if metadata.is_symlink() { 0o777 } else { metadata.permissions().mode() & 0o755 }
}

/// As [`mode`] where a file system has no permission to execute: scripts have it.
#[cfg_attr(unix, cfg(test))]
fn mode_by_content(metadata: &Metadata, path: &Path) -> u32 {
    let begins_as_script = || {
        use std::io::Read;
        let mut start = [0; 2];
        let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
        read.is_ok() && start == *b"#!"
    };
    if metadata.is_dir() || metadata.is_file() && begins_as_script() { 0o755 } else { 0o644 }
}

/// A path and what is needed of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reference {
    path: String,
    need: Need,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// The file, or the directory without what git keeps in it.
    Content,
    /// A directory to work in.
    WorkingDirectory,
    /// A repository.
    Repository,
}

/// How every [`PathRef`] begins. Inside of a text of a case the quotes would be escaped.
const START: &str = "{\"written\":";

/// Every path in texts that hold a suite and its cases as JSON.
fn references(texts: &[impl AsRef<str>]) -> BTreeSet<Reference> {
    set(texts.iter().flat_map(|text| in_text(text.as_ref())))
}

/// Searching the text takes a fraction of what decoding it again would.
pub(crate) fn in_text(code: &str) -> BTreeSet<Reference> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices(START) {
        let mut reader = serde_json::Deserializer::from_str(&code[at..]).into_iter::<PathRef>();
        let Some(Ok(path)) = reader.next() else { continue };
        let (before, after) = (&code[..at], &code[at + reader.byte_offset()..]);
        // The text of a prompt was read while the suite was loaded.
        let has_text = before.ends_with("{\"file\":") && after.starts_with(",\"text\":");
        // The path of a repository may only be known when the case runs.
        if has_text || path.path.contains("${{") {
            continue;
        }
        let need = if before.ends_with("\"cwd\":") {
            Need::WorkingDirectory
        } else if before.ends_with("\"local\":") {
            Need::Repository
        } else {
            Need::Content
        };
        found.insert(Reference { path: path.path, need });
    }
    found
}
