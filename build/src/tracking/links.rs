//! Links below a tracked directory: cargo follows them when it looks for changes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A link to a directory.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) path: PathBuf,
    /// Where it leads, with all links resolved.
    pub(super) target: PathBuf,
}

/// The first link to a directory below `directory`, also behind other links, for whose target there is a `reason` not to follow it. What
/// cannot be read is left out: cargo cannot read it either.
pub(super) fn first<R>(directory: &Path, reason: impl Fn(&Path) -> Option<R>) -> Option<(Link, R)> {
    let mut open = vec![directory.to_path_buf()];
    let mut followed = BTreeSet::new();
    while let Some(directory) = open.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        // The last one is looked at first.
        let next = open.len();
        for entry in entries {
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                open.insert(next, entry.path());
            } else if kind.is_symlink()
                && let Ok(target) = entry.path().canonicalize()
                && target.is_dir()
            {
                if let Some(reason) = reason(&target) {
                    return Some((Link { path: entry.path(), target }, reason));
                }
                if followed.insert(target) {
                    open.insert(next, entry.path());
                }
            }
        }
    }
    None
}
