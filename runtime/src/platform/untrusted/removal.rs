//! Removal of a directory tree of any depth.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{EntryKind, Handle};
use crate::platform::files::temporary_name;

/// Entries of a directory that are looked at before it is read again.
const BATCH: usize = 4096;
/// Time after which the removal gives up: a program that is still running may make files faster than they are removed.
const LIMIT: Duration = Duration::from_secs(300);

/// Removes a directory with its content if it exists, even if directories in it are read-only. A link in its place is removed,
/// not followed.
///
/// The standard library's function calls itself for every level, with an open directory each: a thousand nested directories
/// exhaust either the stack or the descriptors. Here directories are moved up to the one that is removed, one below the other
/// becomes one beside the other.
///
/// # Errors
///
/// If something cannot be removed.
pub(crate) fn remove_directory(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name"));
    };
    // Most are empty, or do not exist.
    match std::fs::remove_dir(path) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(_) => {}
    }
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    // The parent is the caller's own, and may be a link.
    let opened = match Handle::open(parent) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            std::fs::canonicalize(parent).and_then(|parent| Handle::open(&parent))
        }
        result => result,
    };
    match opened.and_then(|parent| remove_tree(&parent, name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Removes an entry of a directory with its content.
///
/// # Errors
///
/// If something cannot be removed.
pub(super) fn remove_tree(parent: &Handle, name: &OsStr) -> io::Result<()> {
    let root = match parent.writable_directory(name) {
        Ok(root) => root,
        Err(error) if is_no_directory(&error) => return parent.remove_file(name),
        Err(error) => return Err(error),
    };
    let end = Instant::now() + LIMIT;
    for_each_entry(&root, end, |name, kind| match kind {
        EntryKind::Directory => empty_into(&root, name, end),
        _ => root.remove_file(name),
    })?;
    parent.remove_empty_directory(name)
}

/// Removes a directory in `root` after moving the directories in it to `root`.
fn empty_into(root: &Handle, name: &OsStr, end: Instant) -> io::Result<()> {
    let directory = match root.writable_directory(name) {
        Ok(directory) => directory,
        Err(error) if is_no_directory(&error) => return root.remove_file(name),
        Err(error) => return Err(error),
    };
    for_each_entry(&directory, end, |name, kind| match kind {
        EntryKind::Directory => move_up(&directory, name, root),
        _ => directory.remove_file(name),
    })?;
    root.remove_empty_directory(name)
}

/// Removes what is in a directory until it is empty.
fn for_each_entry(
    directory: &Handle,
    end: Instant,
    remove: impl Fn(&OsStr, EntryKind) -> io::Result<()>,
) -> io::Result<()> {
    loop {
        let entries = directory.entries(BATCH)?;
        if entries.is_empty() {
            return Ok(());
        }
        if Instant::now() >= end {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "it is not empty after 5 minutes of removing files"));
        }
        for (name, kind) in entries {
            match remove(&name, kind) {
                // A process that is still running may remove files, too.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                result => result?,
            }
        }
    }
}

fn move_up(directory: &Handle, name: &OsStr, root: &Handle) -> io::Result<()> {
    // A directory that is moved to another one has to be writable itself.
    drop(directory.writable_directory(name)?);
    directory.move_to(name, root, &temporary_name(OsStr::new("removed")))
}

fn is_no_directory(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotADirectory
}
