//! The walk of the files of a workspace, and what snapshots leave out.

use std::ffi::OsStr;

pub(crate) use crate::platform::untrusted::{TreeEntry, WalkLimits, walk, walk_within};

/// Directories of generated files, such as installed packages and caches.
pub(crate) const CACHES: [&str; 4] = ["node_modules", "__pycache__", ".agentv", ".evalsuite"];

/// Whether snapshots leave a directory of this name out: git's own files and [`CACHES`].
pub(crate) fn is_ignored(name: &OsStr) -> bool {
    name == ".git" || CACHES.iter().any(|cache| name == *cache)
}
