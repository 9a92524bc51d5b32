//! Where the suite of a request is.

use std::path::{Path, PathBuf};

use evalsuite_loader::Request;

/// The whole path of the entry; `None` where the directory is not known that it is relative to.
pub(crate) fn entry_path(request: &Request) -> Option<PathBuf> {
    let base = match request.entry.strip_prefix("./") {
        Some(rest) => request.source_dir.as_ref()?.join(rest),
        None => request.package_root.join(&request.entry),
    };
    // Components as they are written: `suites/x/` and `suites/./x` are `suites/x`.
    Some(base.components().collect())
}

/// The directory of the suite at `entry`.
pub(crate) fn suite_directory(entry: &Path) -> &Path {
    if entry.is_dir() { entry } else { entry.parent().unwrap_or(entry) }
}
