//! Removal of a directory tree of any depth.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{EntryKind, Handle};
use crate::file_replacement::temporary_name;

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
pub fn remove_directory(path: &Path) -> io::Result<()> {
    remove_directory_within(path, LIMIT)
}

/// The same, with a time limit: what an agent made in seconds can take minutes to remove.
///
/// # Errors
///
/// If something cannot be removed, or not in this time.
pub fn remove_directory_within(path: &Path, limit: Duration) -> io::Result<()> {
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
    match opened.and_then(|parent| remove_tree_within(&parent, name, limit)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Removes an entry of a directory with its content.
pub(super) fn remove_tree(parent: &Handle, name: &OsStr) -> io::Result<()> {
    remove_tree_within(parent, name, LIMIT)
}

fn remove_tree_within(parent: &Handle, name: &OsStr, limit: Duration) -> io::Result<()> {
    let end = Instant::now() + limit;
    let in_time = || {
        let message = || format!("it is not empty after {} s of removing files", limit.as_secs_f64());
        if Instant::now() < end { Ok(()) } else { Err(io::Error::new(io::ErrorKind::TimedOut, message())) }
    };
    // Directories in a directory of the root are moved to the root.
    remove_entry(parent, name, &in_time, |root, name| {
        remove_entry(root, name, &in_time, |directory, name| {
            // A directory that is moved to another one has to be writable itself.
            drop(directory.writable_directory(name)?);
            directory.move_to(name, root, &temporary_name(OsStr::new("removed")))
        })
    })
}

/// Removes an entry of a directory; `remove` removes the directories in it.
fn remove_entry(
    parent: &Handle,
    name: &OsStr,
    in_time: &impl Fn() -> io::Result<()>,
    remove: impl Fn(&Handle, &OsStr) -> io::Result<()>,
) -> io::Result<()> {
    let directory = match parent.writable_directory(name) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return parent.remove_file(name),
        result => result?,
    };
    loop {
        let entries = directory.entries(BATCH)?;
        if entries.is_empty() {
            return parent.remove_empty_directory(name);
        }
        for (name, kind) in entries {
            in_time()?;
            let removed =
                if kind == EntryKind::Directory { remove(&directory, &name) } else { directory.remove_file(&name) };
            match removed {
                // A process that is still running may remove files, too.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                result => result?,
            }
        }
    }
}
