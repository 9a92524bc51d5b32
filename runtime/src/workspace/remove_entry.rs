//! Removal of entries that block a path.

use std::path::Path;
use std::{fs, io};

use crate::platform::untrusted::remove_directory;

/// Removes a file, link or directory if it exists, even if directories in it are read-only.
pub(crate) fn remove_entry(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => remove_directory(path),
        // Windows removes a link to a directory as one.
        Ok(_) => fs::remove_file(path).or_else(|error| if cfg!(windows) { fs::remove_dir(path) } else { Err(error) }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
