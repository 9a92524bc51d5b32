//! Files, directories and links on disk, to be embedded.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use evalsuite_schema::embedded::{self, Header, Kind};

use crate::statics::string_literal;

use super::references::{Need, Reference};

/// Everything a suite's cases need, by path: sorted, so that the same files make the same program.
#[derive(Debug, Clone)]
pub struct Contents {
    package_root: PathBuf,
    suite_root: PathBuf,
    entries: BTreeMap<String, Entry>,
    bytes: u64,
}

#[derive(Debug, Clone)]
struct Entry {
    place: PathBuf,
    mode: u32,
    what: What,
}

#[derive(Debug, Clone, PartialEq)]
enum What {
    File(u64),
    Directory,
    Link(String),
}

impl Contents {
    pub(super) fn new(package_root: &Path, suite_root: &str) -> Self {
        let (package_root, suite_root) = (package_root.to_path_buf(), package_root.join(suite_root));
        Self { package_root, suite_root, entries: BTreeMap::new(), bytes: 0 }
    }

    /// Nothing.
    pub(crate) fn none() -> Self {
        Self::new(Path::new(""), "")
    }

    /// Adds what a case names. What is not there is left to whoever needs it.
    pub(super) fn add(&mut self, reference: &Reference) -> io::Result<()> {
        let place = self.package_root.join(&reference.path);
        let Ok(metadata) = fs::metadata(&place) else { return Ok(()) };
        if metadata.is_file() {
            self.insert(reference.path.clone(), place, mode(&metadata), What::File(metadata.len()));
        } else if metadata.is_dir() {
            // Of the suite's own directory only what is named somewhere is needed.
            let whole = reference.need != Need::WorkingDirectory || !self.suite_root.starts_with(&place);
            self.insert(reference.path.clone(), place.clone(), mode(&metadata), What::Directory);
            if whole {
                self.directory(&place, &reference.path, reference.need == Need::Repository)?;
            }
        }
        Ok(())
    }

    fn directory(&mut self, directory: &Path, path: &str, with_git: bool) -> io::Result<()> {
        let at = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", directory.display()));
        for entry in fs::read_dir(directory).map_err(at)? {
            let entry = entry.map_err(at)?;
            let (place, name) = (entry.path(), entry.file_name());
            if name == ".git" && !with_git {
                continue;
            }
            let unreadable = || io::Error::other(format!("{} is no UTF-8", place.display()));
            let path = format!("{path}/{}", name.to_str().ok_or_else(unreadable)?);
            let metadata = fs::symlink_metadata(&place).map_err(at)?;
            let mode = mode(&metadata);
            if metadata.is_symlink() {
                let destination = fs::read_link(&place).map_err(at)?;
                let destination = destination.to_str().ok_or_else(unreadable)?.to_owned();
                self.insert(path, place, mode, What::Link(destination));
            } else if metadata.is_dir() {
                self.directory(&place, &path, with_git)?;
                self.insert(path, place, mode, What::Directory);
            } else if metadata.is_file() {
                self.insert(path, place, mode, What::File(metadata.len()));
            }
        }
        Ok(())
    }

    fn insert(&mut self, path: String, place: PathBuf, mode: u32, what: What) {
        if let What::File(bytes) = what
            && !self.entries.contains_key(&path)
        {
            self.bytes = self.bytes.saturating_add(bytes);
        }
        self.entries.insert(path, Entry { place, mode, what });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The files.
    #[cfg(feature = "generate")]
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        self.entries.values().filter(|entry| matches!(entry.what, What::File(_))).map(|entry| entry.place.as_path())
    }

    /// Everything, where it lies on disk; links by themselves.
    pub(crate) fn places(&self) -> impl Iterator<Item = (&Path, bool)> {
        self.entries.values().map(|entry| (entry.place.as_path(), matches!(entry.what, What::File(_))))
    }

    /// The files that matter: those with a twentieth of the bytes or more, at most three.
    pub(super) fn largest(&self) -> impl Iterator<Item = (&Path, u64)> {
        let size = |entry: &Entry| match entry.what {
            What::File(bytes) => bytes,
            What::Directory | What::Link(_) => 0,
        };
        let mut entries: Vec<&Entry> =
            self.entries.values().filter(|entry| size(entry) > 0 && size(entry) >= self.bytes / 20).collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(size(entry)));
        entries.into_iter().take(3).map(move |entry| (entry.place.as_path(), size(entry)))
    }

    /// Adds everything of `more`.
    pub(super) fn extend(&mut self, more: Self) {
        for (path, entry) in more.entries {
            self.insert(path, entry.place, entry.mode, entry.what);
        }
    }

    /// The elements of the Rust expression that includes each file.
    pub(super) fn pairs(&self) -> String {
        let mut code = String::new();
        for (path, entry) in &self.entries {
            code.push('(');
            code.push_str(&string_literal(&entry.header(path)));
            match (&entry.what, entry.place.to_str()) {
                (What::File(_), Some(place)) => {
                    code.push_str(&format!(", ::core::include_bytes!({})), ", string_literal(place)));
                }
                (What::Link(destination), _) => {
                    code.push_str(&format!(", str::as_bytes({})), ", string_literal(destination)));
                }
                (What::Directory | What::File(_), _) => code.push_str(", &[]), "),
            }
        }
        code
    }

    /// Writes everything as one archive; one that is the same already is left alone.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        let mut archive = Vec::new();
        for (path, entry) in &self.entries {
            let header = entry.header(path);
            match &entry.what {
                What::File(_) => {
                    let at =
                        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", entry.place.display()));
                    embedded::push(&mut archive, (&header, &fs::read(&entry.place).map_err(at)?));
                }
                What::Directory => embedded::push(&mut archive, (&header, &[])),
                What::Link(destination) => embedded::push(&mut archive, (&header, destination.as_bytes())),
            }
        }
        if fs::read(path).is_ok_and(|old| old == archive) {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, archive)
    }
}

impl Entry {
    fn header(&self, path: &str) -> String {
        let kind = match self.what {
            What::File(_) => Kind::File,
            What::Directory => Kind::Directory,
            What::Link(_) => Kind::Link,
        };
        Header { kind, mode: self.mode, path }.to_string()
    }
}

/// Permissions, but nobody else may write: that depends on who checked the files out, and the same files have to make the
/// same program.
#[cfg(unix)]
fn mode(metadata: &Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    if metadata.is_symlink() { 0o777 } else { metadata.permissions().mode() & 0o755 }
}

#[cfg(not(unix))]
fn mode(metadata: &Metadata) -> u32 {
    if metadata.is_dir() { 0o755 } else { 0o644 }
}
