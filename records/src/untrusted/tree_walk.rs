//! The walk of a directory tree, iterative, by descriptors, and within limits; and the removal of one of any depth.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};
use std::{io, vec};

use super::{EntryKind, Handle, OpenError};
use crate::file_replacement::{error_at, temporary_name};

/// How much of a tree is looked at.
#[derive(Debug, Clone, Copy)]
pub struct WalkLimits {
    /// Files, directories and links.
    pub entries: usize,
    /// Directories one below the other.
    pub depth: usize,
}

impl Default for WalkLimits {
    fn default() -> Self {
        Self { entries: 1_000_000, depth: 100 }
    }
}

/// A file, directory, symbolic link or other entry below the root of a walk.
pub struct TreeEntry {
    pub path: PathBuf,
    /// Relative to the root.
    pub relative_path: PathBuf,
    pub kind: EntryKind,
    name: OsString,
    directory: Rc<Handle>,
}

/// Everything below a directory, a directory before its content. Symbolic links are not followed, also not those that take the
/// place of a directory meanwhile.
pub struct Walk<'a, S> {
    root: &'a Path,
    skipped: S,
    limits: WalkLimits,
    /// Directories whose content is still to come, relative to the root.
    pending: Vec<PathBuf>,
    current: Option<Listing>,
    /// Whether something was left out because of a limit.
    is_cut: bool,
}

/// A directory whose entries are being walked.
struct Listing {
    /// Relative to the root.
    path: PathBuf,
    directory: Rc<Handle>,
    entries: vec::IntoIter<(OsString, EntryKind)>,
}

/// Walks everything below `root`, except directories whose name is in `skipped`.
pub fn walk<S: Fn(&OsStr) -> bool>(root: &Path, skipped: S) -> Walk<'_, S> {
    walk_within(root, skipped, WalkLimits::default())
}

/// Walks everything below `root` within limits, except directories whose name is in `skipped`.
pub fn walk_within<S: Fn(&OsStr) -> bool>(root: &Path, skipped: S, limits: WalkLimits) -> Walk<'_, S> {
    Walk { root, skipped, limits, pending: vec![PathBuf::new()], current: None, is_cut: false }
}

impl<S: Fn(&OsStr) -> bool> Walk<'_, S> {
    /// Whether there is more than the limits allow.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Leaves out the content of a directory that was just returned.
    pub fn leave_out(&mut self, directory: &Path) {
        self.pending.retain(|pending| pending != directory);
    }

    fn enter(&mut self, directory: PathBuf) -> io::Result<()> {
        let handle = Handle::open(self.root)?.directory_below(&directory)?;
        // One more than the limit shows that there is more.
        let entries = handle.entries(self.limits.entries.saturating_add(1))?;
        self.current = Some(Listing { path: directory, directory: Rc::new(handle), entries: entries.into_iter() });
        Ok(())
    }
}

impl<S: Fn(&OsStr) -> bool> Iterator for Walk<'_, S> {
    type Item = io::Result<TreeEntry>;

    /// Errors name their path.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(Listing { path: parent, directory, entries }) = &mut self.current {
                for (name, kind) in entries {
                    if kind == EntryKind::Directory && (self.skipped)(&name) {
                        continue;
                    }
                    let Some(left) = self.limits.entries.checked_sub(1) else {
                        self.is_cut = true;
                        return None;
                    };
                    self.limits.entries = left;
                    let relative_path = parent.join(&name);
                    if kind == EntryKind::Directory {
                        match relative_path.components().count() < self.limits.depth {
                            true => self.pending.push(relative_path.clone()),
                            false => self.is_cut = true,
                        }
                    }
                    let path = self.root.join(&relative_path);
                    return Some(Ok(TreeEntry { path, relative_path, kind, name, directory: Rc::clone(directory) }));
                }
                self.current = None;
            }
            let directory = self.pending.pop()?;
            let path = self.root.join(&directory);
            if let Err(error) = self.enter(directory) {
                return Some(Err(error_at(&path, &error)));
            }
        }
    }
}

impl TreeEntry {
    /// The relative path with `/` separators.
    pub fn name(&self) -> String {
        let parts = self.relative_path.components().map(|part| part.as_os_str().to_string_lossy());
        parts.collect::<Vec<_>>().join("/")
    }

    /// Opens the file, if it still is one.
    ///
    /// # Errors
    ///
    /// If it is not a regular file any more, or cannot be opened.
    pub fn open(&self) -> Result<File, OpenError> {
        self.directory.file(&self.name)
    }

    /// The destination of a link.
    ///
    /// # Errors
    ///
    /// If it is not a link any more.
    pub fn destination(&self) -> io::Result<PathBuf> {
        self.directory.link(&self.name)
    }
}

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

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_takes_the_place_of_an_entry_after_it_was_listed_is_not_opened() {
        let directory = tempfile::tempdir().unwrap();
        let (root, outside) = (directory.path().join("root"), directory.path().join("outside"));
        fs::create_dir_all(root.join("a")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret"), "secret").unwrap();
        fs::write(root.join("file"), "text").unwrap();
        let entries = walk(&root, |_| false).map(|found| {
            let found = found.map_err(|error| error.kind())?;
            let path = &found.path;
            // A link takes its place before it is opened, or before the walk enters it.
            let kind = found.kind;
            if kind == EntryKind::Directory { fs::remove_dir(path) } else { fs::remove_file(path) }.unwrap();
            symlink(if kind == EntryKind::Directory { outside.clone() } else { outside.join("secret") }, path).unwrap();
            Ok((found.name(), found.open().is_ok()))
        });
        let mut entries: Vec<Result<_, io::ErrorKind>> = entries.collect();
        entries.sort_by_key(|entry| entry.clone().ok());
        let not_entered = Err(io::ErrorKind::NotADirectory);
        assert_eq!(entries, [not_entered, Ok(("a".to_owned(), false)), Ok(("file".to_owned(), false))]);
    }
}
