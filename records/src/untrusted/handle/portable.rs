//! A directory by its path, on systems whose standard library cannot open files relative to a directory. A checked file
//! can be replaced before it is used.

use std::ffi::{OsStr, OsString};
use std::fs::{File, FileType};
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::EntryKind;
use crate::untrusted::OpenError;

/// A directory.
#[derive(Debug)]
pub struct Handle(PathBuf);

impl EntryKind {
    fn of(file_type: FileType) -> Self {
        match file_type {
            kind if kind.is_symlink() => Self::Link,
            kind if kind.is_dir() => Self::Directory,
            kind if kind.is_file() => Self::File,
            _ => Self::Other,
        }
    }
}

impl Handle {
    /// Opens a directory of ours. Its last component must not be a link.
    ///
    /// # Errors
    ///
    /// If it is not a directory, or cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        match fs::symlink_metadata(path)?.is_dir() {
            true => Ok(Self(path.to_owned())),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Opens a directory in this one. It must not be a link.
    ///
    /// # Errors
    ///
    /// If it is not a directory, or cannot be opened.
    pub fn directory(&self, name: &OsStr) -> io::Result<Self> {
        Self::open(&self.0.join(name))
    }

    /// Makes a directory in this one unless there is one, and opens it.
    ///
    /// # Errors
    ///
    /// If something else has its name, or it cannot be made.
    pub fn make_directory(&self, name: &OsStr) -> io::Result<Self> {
        match fs::create_dir(self.0.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => self.directory(name),
        }
    }

    /// Opens a regular file in this directory. It must not be a link.
    ///
    /// # Errors
    ///
    /// If it is something else, or cannot be opened.
    pub fn file(&self, name: &OsStr) -> Result<File, OpenError> {
        regular(&self.0.join(name))
    }

    /// Opens a regular file in this directory for reading and writing. It is made if it does not exist, and must not be a link.
    ///
    /// # Errors
    ///
    /// If it is something else, or cannot be opened.
    pub fn shared_file(&self, name: &OsStr, appends: bool) -> Result<File, OpenError> {
        let path = self.0.join(name);
        match regular(&path) {
            Ok(_) | Err(OpenError::Missing) => {}
            Err(error) => return Err(error),
        }
        let mut options = File::options();
        options.create(true).truncate(false).read(true);
        Ok(if appends { options.append(true) } else { options.write(true) }.open(path)?)
    }

    /// Opens a regular file below this directory, which is at `root`. Links are followed as long as they stay below it.
    ///
    /// # Errors
    ///
    /// If it is something else, is not below the directory, or cannot be opened.
    pub fn file_below(&self, root: &Path, path: &Path) -> Result<File, OpenError> {
        let real = fs::canonicalize(self.0.join(path))?;
        if !real.starts_with(fs::canonicalize(root)?) {
            return Err(OpenError::Outside);
        }
        regular(&real)
    }

    /// The destination of a link in this directory.
    ///
    /// # Errors
    ///
    /// If it is not a link, or cannot be read.
    pub fn link(&self, name: &OsStr) -> io::Result<PathBuf> {
        fs::read_link(self.0.join(name))
    }

    /// Names and kinds of at most `limit` entries, in no order.
    ///
    /// # Errors
    ///
    /// If the directory cannot be read.
    pub fn entries(&self, limit: usize) -> io::Result<Vec<(OsString, EntryKind)>> {
        let entries = fs::read_dir(&self.0)?.take(limit);
        entries
            .map(|entry| entry.and_then(|entry| Ok((entry.file_name(), EntryKind::of(entry.file_type()?)))))
            .collect()
    }

    /// Makes a file for writing that did not exist.
    ///
    /// # Errors
    ///
    /// If something has its name, or it cannot be made.
    pub fn create(&self, name: &OsStr) -> io::Result<File> {
        File::create_new(self.0.join(name))
    }

    /// Gives an entry another name, in place of what has it.
    ///
    /// # Errors
    ///
    /// If a directory has the name, or the entry cannot be renamed.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let to = self.0.join(to);
        fs::rename(self.0.join(from), &to).map_err(|error| match fs::symlink_metadata(&to) {
            // Windows says that the access is denied.
            Ok(metadata) if metadata.is_dir() => io::ErrorKind::IsADirectory.into(),
            _ => error,
        })
    }

    pub fn move_to(&self, name: &OsStr, other: &Self, to: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(name), other.0.join(to))
    }

    /// Removes what is not a directory.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    pub fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        let path = self.0.join(name);
        // Windows distinguishes links to directories.
        fs::remove_file(&path).or_else(|error| fs::remove_dir(&path).map_err(|_| error))
    }

    pub fn remove_empty_directory(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.0.join(name))
    }

    pub fn writable_directory(&self, name: &OsStr) -> io::Result<Self> {
        let directory = self.directory(name)?;
        directory.make_writable()?;
        Ok(directory)
    }

    pub fn make_writable(&self) -> io::Result<()> {
        let mut permissions = fs::symlink_metadata(&self.0)?.permissions();
        if permissions.readonly() {
            permissions.set_readonly(false);
            fs::set_permissions(&self.0, permissions)?;
        }
        Ok(())
    }
}

/// Opens a regular file of ours, to which links may lead.
///
/// # Errors
///
/// If it is something else, or cannot be opened.
pub fn regular_file(path: &Path) -> Result<File, OpenError> {
    regular(&fs::canonicalize(path)?)
}

fn regular(path: &Path) -> Result<File, OpenError> {
    match EntryKind::of(fs::symlink_metadata(path)?.file_type()) {
        EntryKind::File => Ok(File::open(path)?),
        EntryKind::Directory => Err(OpenError::NotAFile("a directory")),
        EntryKind::Link => Err(OpenError::NotAFile("a symbolic link")),
        EntryKind::Other => Err(OpenError::NotAFile("a device")),
    }
}
