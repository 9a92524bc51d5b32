//! An open directory: its entries are opened through its descriptor, independently of its path.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::EntryKind;
use crate::untrusted::OpenError;

/// Largest number of symbolic links on the way to a file.
const LINKS: usize = 40;

/// Never waits, neither for the writer of a pipe nor for a device, and follows no link in the last component.
const CAREFUL: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// An open directory.
#[derive(Debug)]
pub struct Handle(OwnedFd);

impl EntryKind {
    fn of(file_type: FileType) -> Self {
        match file_type {
            FileType::Directory => Self::Directory,
            FileType::RegularFile => Self::File,
            FileType::Symlink => Self::Link,
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
        open_directory(CWD, path.as_os_str())
    }

    /// Opens a directory in this one. It must not be a link.
    ///
    /// # Errors
    ///
    /// If it is not a directory, or cannot be opened.
    pub fn directory(&self, name: &OsStr) -> io::Result<Self> {
        open_directory(&self.0, name)
    }

    /// Makes a directory in this one unless there is one, and opens it.
    ///
    /// # Errors
    ///
    /// If something else has its name, or it cannot be made.
    pub fn make_directory(&self, name: &OsStr) -> io::Result<Self> {
        match rustix::fs::mkdirat(&self.0, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => self.directory(name),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a regular file in this directory. It must not be a link.
    ///
    /// # Errors
    ///
    /// If it is something else, or cannot be opened.
    pub fn file(&self, name: &OsStr) -> Result<File, OpenError> {
        regular(open(&self.0, name, CAREFUL, Mode::empty()))
    }

    /// Opens a regular file in this directory for reading and writing. It is made if it does not exist, and must not be a link.
    ///
    /// # Errors
    ///
    /// If it is something else, or cannot be opened.
    pub fn shared_file(&self, name: &OsStr, appends: bool) -> Result<File, OpenError> {
        let end = if appends { OFlags::APPEND } else { OFlags::empty() };
        let flags = CAREFUL | OFlags::RDWR | OFlags::CREATE | end;
        regular(open(&self.0, name, flags, Mode::from_raw_mode(0o666)))
    }

    /// Opens a regular file below this directory, which is at `root`. Links are followed as long as they stay below it.
    ///
    /// # Errors
    ///
    /// If it is something else, is not below the directory, or cannot be opened.
    pub fn file_below(&self, root: &Path, path: &Path) -> Result<File, OpenError> {
        let mut rest: VecDeque<OsString> = VecDeque::new();
        push_front(&mut rest, path);
        let mut parents: Vec<Self> = Vec::new();
        let mut links = 0;
        while let Some(name) = rest.pop_front() {
            let here = parents.last().unwrap_or(self);
            if name == ".." {
                parents.pop().ok_or(OpenError::Outside)?;
                continue;
            }
            let is_last = rest.is_empty();
            let flags = if is_last { CAREFUL } else { CAREFUL | OFlags::DIRECTORY };
            let found = match open(&here.0, &name, flags, Mode::empty()) {
                Ok(found) => found,
                Err(error) => {
                    // The error for a link differs between systems.
                    let Ok(destination) = here.link(&name) else { return regular(Err(error)) };
                    links += 1;
                    let destination = match destination.strip_prefix(root) {
                        _ if links > LINKS => return regular(Err(Errno::LOOP)),
                        Ok(inside) => {
                            parents.clear();
                            inside
                        }
                        Err(_) if destination.is_absolute() => return Err(OpenError::Outside),
                        Err(_) => &destination,
                    };
                    push_front(&mut rest, destination);
                    continue;
                }
            };
            if is_last {
                return regular(Ok(found));
            }
            parents.push(Self(found));
        }
        Err(OpenError::NotAFile("a directory"))
    }

    /// The destination of a link in this directory.
    ///
    /// # Errors
    ///
    /// If it is not a link, or cannot be read.
    pub fn link(&self, name: &OsStr) -> io::Result<PathBuf> {
        let destination = rustix::fs::readlinkat(&self.0, name, Vec::new())?;
        Ok(OsString::from_vec(destination.into_bytes()).into())
    }

    /// Names and kinds of at most `limit` entries, in no order.
    ///
    /// # Errors
    ///
    /// If the directory cannot be read.
    pub fn entries(&self, limit: usize) -> io::Result<Vec<(OsString, EntryKind)>> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            if entries.len() == limit {
                break;
            }
            let file_type = match entry.file_type() {
                FileType::Unknown => match rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                    Err(Errno::NOENT) => continue,
                    Err(error) => return Err(error.into()),
                },
                known => known,
            };
            entries.push((name.to_owned(), EntryKind::of(file_type)));
        }
        Ok(entries)
    }

    /// Makes a file for writing that did not exist.
    ///
    /// # Errors
    ///
    /// If something has its name, or it cannot be made.
    pub fn create(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(open(&self.0, name, flags, Mode::from_raw_mode(0o666))?.into())
    }

    /// Gives an entry another name, in place of what has it.
    ///
    /// # Errors
    ///
    /// If a directory has the name, or the entry cannot be renamed.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, from, &self.0, to)?)
    }

    /// Moves an entry to another directory, where nothing has the name `to`.
    pub fn move_to(&self, name: &OsStr, other: &Self, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, name, &other.0, to)?)
    }

    /// Removes what is not a directory.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    pub fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    pub fn remove_empty_directory(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// Opens a directory in this one after giving its owner all permissions, if they are missing.
    pub fn writable_directory(&self, name: &OsStr) -> io::Result<Self> {
        let directory = match self.directory(name) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.make_readable(name)?;
                self.directory(name)?
            }
            result => result?,
        };
        directory.make_writable()?;
        Ok(directory)
    }

    /// Gives the owner all permissions, if they are missing.
    pub fn make_writable(&self) -> io::Result<()> {
        let mode = Mode::from_raw_mode(rustix::fs::fstat(&self.0)?.st_mode);
        if !mode.contains(Mode::RWXU) {
            rustix::fs::fchmod(&self.0, mode | Mode::RWXU)?;
        }
        Ok(())
    }

    /// Linux cannot change permissions through a descriptor that does not read, but through its name in `/proc`.
    #[cfg(target_os = "linux")]
    fn make_readable(&self, name: &OsStr) -> io::Result<()> {
        use std::os::fd::AsRawFd;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let found = open(&self.0, name, flags, Mode::empty())?;
        Ok(rustix::fs::chmod(format!("/proc/self/fd/{}", found.as_raw_fd()), Mode::RWXU)?)
    }

    #[cfg(not(target_os = "linux"))]
    fn make_readable(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::chmodat(&self.0, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)?)
    }
}

/// Opens a regular file of ours, to which links may lead.
///
/// # Errors
///
/// If it is something else, or cannot be opened.
pub fn regular_file(path: &Path) -> Result<File, OpenError> {
    regular(open(CWD, path.as_os_str(), CAREFUL.difference(OFlags::NOFOLLOW), Mode::empty()))
}

/// Opens an entry of a directory, also if a signal comes meanwhile.
fn open(parent: impl AsFd, name: &OsStr, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
    rustix::io::retry_on_intr(|| rustix::fs::openat(&parent, name, flags, mode))
}

fn open_directory(parent: impl AsFd, name: &OsStr) -> io::Result<Handle> {
    match open(parent, name, CAREFUL | OFlags::DIRECTORY, Mode::empty()) {
        Ok(directory) => Ok(Handle(directory)),
        Err(Errno::LOOP | Errno::MLINK) => Err(io::ErrorKind::NotADirectory.into()),
        Err(error) => Err(error.into()),
    }
}

/// Puts the components of a path before the ones that are left.
fn push_front(rest: &mut VecDeque<OsString>, path: &Path) {
    let components = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    for component in components.rev() {
        rest.push_front(component.as_os_str().to_owned());
    }
}

/// The file, if it is a regular one.
fn regular(opened: Result<OwnedFd, Errno>) -> Result<File, OpenError> {
    let file = match opened {
        Ok(file) => file,
        Err(Errno::LOOP | Errno::MLINK) => return Err(OpenError::NotAFile("a symbolic link")),
        // A socket cannot be opened, for which macOS has the last number, nor a device without a driver.
        Err(Errno::NXIO | Errno::NODEV | Errno::OPNOTSUPP) => return Err(OpenError::NotAFile("a socket or device")),
        Err(Errno::NOTDIR) => return Err(OpenError::Missing),
        Err(Errno::ISDIR) => return Err(OpenError::NotAFile("a directory")),
        Err(error) => return Err(io::Error::from(error).into()),
    };
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&file).map_err(io::Error::from)?.st_mode);
    match kind {
        FileType::RegularFile => Ok(file.into()),
        FileType::Directory => Err(OpenError::NotAFile("a directory")),
        FileType::Fifo => Err(OpenError::NotAFile("a named pipe")),
        _ => Err(OpenError::NotAFile("a device")),
    }
}
