//! Permissions of files and directories.

use std::fs::Metadata;
use std::path::Path;
use std::{fs, io};

/// Permission bits, where the system has them.
#[cfg(unix)]
pub(crate) fn mode(metadata: &Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(metadata.permissions().mode() & 0o777)
}

/// Permission bits, where the system has them.
#[cfg(not(unix))]
pub(crate) fn mode(_: &Metadata) -> Option<u32> {
    None
}

/// Sets permission bits, where the system has them.
///
/// # Errors
///
/// If they cannot be changed.
#[cfg(unix)]
pub(crate) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o777))
}

/// Sets permission bits, where the system has them.
///
/// # Errors
///
/// If they cannot be changed.
#[cfg(not(unix))]
pub(crate) fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

/// Removes a directory with its content if it exists, even if directories in it are read-only.
///
/// # Errors
///
/// If something cannot be removed.
pub(crate) fn remove_directory(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            make_writable(directory)?;
            fs::remove_dir_all(directory)
        }
        result => result,
    }
}

/// Gives the owner all permissions for a directory and the directories in it.
fn make_writable(directory: &Path) -> io::Result<()> {
    // Not with `walkdir`, which opens a directory before its permissions can be changed.
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        let metadata = fs::symlink_metadata(&directory)?;
        #[cfg(unix)]
        set_mode(&directory, mode(&metadata).unwrap_or_default() | 0o700)?;
        #[cfg(not(unix))]
        {
            let mut permissions = metadata.permissions();
            permissions.set_readonly(false);
            fs::set_permissions(&directory, permissions)?;
        }
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                directories.push(entry.path());
            }
        }
    }
    Ok(())
}
