//! Files, directories and links on disk, to be embedded in a program, and the code that does so.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use evalsuite_discovery::with_slashes;
use evalsuite_schema::embedded::{self, Header, Kind};
use serde::{Deserialize, Serialize};
use walkdir::WalkDir;

use super::references::{Need, Reference};
use crate::replaced_file;
use crate::rust_literals::string_literal;

/// Everything a suite's cases need, by path: sorted, so that the same files make the same program.
#[derive(Debug, Clone, Default)]
pub(crate) struct Contents {
    package_root: PathBuf,
    suite_root: PathBuf,
    pub(super) entries: BTreeMap<String, ContentEntry>,
    pub(super) bytes: u64,
}

#[derive(Debug, Clone)]
pub(super) struct ContentEntry {
    pub(super) source: PathBuf,
    mode: u32,
    pub(super) content: EntryContent,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum EntryContent {
    File(u64),
    Directory,
    Link(String),
}

impl Contents {
    pub(super) fn new(package_root: &Path, suite_root: &str) -> Self {
        let (package_root, suite_root) = (package_root.to_path_buf(), package_root.join(suite_root));
        Self { package_root, suite_root, entries: BTreeMap::new(), bytes: 0 }
    }

    /// Adds what a case names. A missing path is reported where it is used.
    pub(super) fn add(&mut self, reference: &Reference) -> io::Result<()> {
        let (path, source) = (&reference.path, self.package_root.join(&reference.path));
        let Ok(metadata) = fs::metadata(&source) else { return Ok(()) };
        let mode = mode(&metadata, &source);
        if metadata.is_file() {
            self.insert(path.clone(), source, mode, EntryContent::File(metadata.len()));
        } else if metadata.is_dir() {
            self.insert(path.clone(), source.clone(), mode, EntryContent::Directory);
            // Of the suite's own directory only what is named somewhere is needed.
            if reference.need != Need::WorkingDirectory || !self.suite_root.starts_with(&source) {
                self.add_tree(&source, path, reference.need == Need::Repository)?;
            }
        }
        Ok(())
    }

    /// Adds everything below `directory`.
    fn add_tree(&mut self, directory: &Path, path: &str, with_git: bool) -> io::Result<()> {
        let tree = WalkDir::new(directory).min_depth(1).into_iter();
        for entry in tree.filter_entry(|entry| with_git || entry.file_name() != ".git") {
            let entry = entry?;
            let metadata = entry.metadata()?;
            let source = entry.into_path();
            let not_utf8 = || io::Error::other(format!("{} is not UTF-8", source.display()));
            let below = source.strip_prefix(directory).map_err(io::Error::other)?;
            below.to_str().ok_or_else(not_utf8)?;
            let below = with_slashes(below);
            let content = if metadata.is_symlink() {
                let destination = fs::read_link(&source).map_err(|error| error_at(&source, &error))?;
                destination.to_str().ok_or_else(not_utf8)?;
                EntryContent::Link(with_slashes(&destination))
            } else if metadata.is_dir() {
                EntryContent::Directory
            } else if metadata.is_file() {
                EntryContent::File(metadata.len())
            } else {
                continue;
            };
            let mode = mode(&metadata, &source);
            self.insert(format!("{path}/{below}"), source, mode, content);
        }
        Ok(())
    }

    fn insert(&mut self, path: String, source: PathBuf, mode: u32, content: EntryContent) {
        if let EntryContent::File(bytes) = content
            && !self.entries.contains_key(&path)
        {
            self.bytes = self.bytes.saturating_add(bytes);
        }
        self.entries.insert(path, ContentEntry { source, mode, content });
    }

    /// Where every entry is on disk.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Path> {
        self.entries.values().map(|entry| entry.source.as_path())
    }

    /// The files that matter: those with a twentieth of the bytes or more, at most three.
    pub(super) fn largest(&self) -> impl Iterator<Item = (&Path, u64)> {
        let size = |entry: &ContentEntry| match entry.content {
            EntryContent::File(bytes) => bytes,
            EntryContent::Directory | EntryContent::Link(_) => 0,
        };
        let mut entries: Vec<&ContentEntry> =
            self.entries.values().filter(|entry| size(entry) > 0 && size(entry) >= self.bytes / 20).collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(size(entry)));
        entries.into_iter().take(3).map(move |entry| (entry.source.as_path(), size(entry)))
    }

    /// Adds everything of `more`.
    pub(crate) fn extend(&mut self, more: Self) {
        for (path, entry) in more.entries {
            self.insert(path, entry.source, entry.mode, entry.content);
        }
    }

    /// Files that the code includes by itself.
    pub(crate) fn files(&self) -> impl Iterator<Item = PathBuf> {
        let files = self.entries.values().filter(|entry| matches!(entry.content, EntryContent::File(_)));
        files.map(|entry| entry.source.clone())
    }

    /// The elements of the Rust expression that includes each file.
    fn pairs(&self) -> String {
        let pair = |(path, entry): (&String, &ContentEntry)| {
            let bytes = match (&entry.content, entry.source.to_str()) {
                (EntryContent::File(_), Some(source)) => {
                    format!("::core::include_bytes!({})", string_literal(source))
                }
                (EntryContent::Link(destination), _) => format!("str::as_bytes({})", string_literal(destination)),
                (EntryContent::Directory | EntryContent::File(_), _) => "&[]".to_owned(),
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
            let bytes: &[u8] = match &entry.content {
                EntryContent::File(_) => &fs::read(&entry.source).map_err(|error| error_at(&entry.source, &error))?,
                EntryContent::Directory => &[],
                EntryContent::Link(destination) => destination.as_bytes(),
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
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Embedded {
    /// The archive of files that was written to this path in OUT_DIR.
    pub(crate) archive: Option<String>,
    /// The files that are not in the archive, one by one.
    #[serde(skip)]
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

fn error_at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

impl ContentEntry {
    fn header(&self, path: &str) -> String {
        let kind = match self.content {
            EntryContent::File(_) => Kind::File,
            EntryContent::Directory => Kind::Directory,
            EntryContent::Link(_) => Kind::Link,
        };
        Header { kind, mode: self.mode, path }.to_string()
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

#[cfg(not(unix))]
use mode_by_content as mode;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_known_by_their_first_line_where_files_have_no_modes() {
        let root = tempfile::tempdir().unwrap();
        let mode = |name: &str, content: &str| {
            let path = root.path().join(name);
            fs::write(&path, content).unwrap();
            mode_by_content(&fs::metadata(&path).unwrap(), &path)
        };
        assert_eq!((mode("run", "#!/bin/sh\n"), mode("note.txt", "# text"), mode("empty", "")), (0o755, 0o644, 0o644));
        assert_eq!(mode_by_content(&fs::metadata(root.path()).unwrap(), root.path()), 0o755);
    }
}
