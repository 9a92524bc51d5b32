//! Symbolic links.

use std::io;
use std::path::Path;

/// Makes a symbolic link at `path`. Windows has to know whether its destination is a directory.
#[cfg(unix)]
pub(crate) fn make_symlink(destination: &Path, path: &Path, _to_directory: bool) -> io::Result<()> {
    std::os::unix::fs::symlink(destination, path)
}

/// Makes a symbolic link at `path`. Windows has to know whether its destination is a directory.
#[cfg(windows)]
pub(crate) fn make_symlink(destination: &Path, path: &Path, to_directory: bool) -> io::Result<()> {
    if to_directory {
        std::os::windows::fs::symlink_dir(destination, path)
    } else {
        std::os::windows::fs::symlink_file(destination, path)
    }
}
