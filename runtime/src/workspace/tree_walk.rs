//! The walk of a directory tree: iterative, and without following symbolic links.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::platform::files::error_at;

/// Directories of generated files, such as installed packages and caches.
pub(crate) const CACHES: [&str; 4] = ["node_modules", "__pycache__", ".agentv", ".evalsuite"];

/// Whether snapshots leave a directory of this name out: git's own files and [`CACHES`].
pub(crate) fn is_ignored(name: &OsStr) -> bool {
    name == ".git" || CACHES.iter().any(|cache| name == *cache)
}

/// A file, directory or symbolic link below the root of a walk.
pub(crate) struct TreeEntry {
    pub(crate) path: PathBuf,
    /// Relative to the root.
    pub(crate) relative_path: PathBuf,
    pub(crate) file_type: std::fs::FileType,
}

/// Everything below `root`, a directory before its content, except directories whose name is in `skipped`.
///
/// Errors name their path.
pub(crate) fn walk(root: &Path, skipped: impl Fn(&OsStr) -> bool) -> impl Iterator<Item = io::Result<TreeEntry>> {
    let entries = WalkDir::new(root).min_depth(1).follow_links(false).follow_root_links(false).into_iter();
    entries.filter_entry(move |entry| !(entry.file_type().is_dir() && skipped(entry.file_name()))).map(move |entry| {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(root).to_owned();
            error_at(&path, &error.into())
        })?;
        let relative_path = entry.path().strip_prefix(root).unwrap_or(entry.path()).to_owned();
        Ok(TreeEntry { relative_path, file_type: entry.file_type(), path: entry.into_path() })
    })
}

impl TreeEntry {
    /// The relative path with `/` separators.
    pub(crate) fn name(&self) -> String {
        let parts = self.relative_path.components().map(|part| part.as_os_str().to_string_lossy());
        parts.collect::<Vec<_>>().join("/")
    }
}
