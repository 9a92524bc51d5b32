//! A directory, in which no link is followed, and why a file is not read.
//!
//! On Linux, its entries are used through its descriptor, as files below `/proc/self/fd/N`: whatever takes its place meanwhile is not
//! touched. Elsewhere, and where `/proc` is missing, a program that runs at the same time can replace a directory after it was checked.

#[cfg(unix)]
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};

use std::ffi::{OsStr, OsString};
use std::fs::{File, FileType, OpenOptions};
use std::path::{Component, Path, PathBuf};
#[cfg(target_os = "linux")]
use std::sync::LazyLock;
use std::{fmt, fs, io};

#[cfg(target_os = "linux")]
use libc::{O_DIRECTORY, O_PATH};
#[cfg(unix)]
use libc::{O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, c_int};

/// Never waits, neither for the writer of a pipe nor for a device.
#[cfg(unix)]
const CAREFUL: c_int = O_NONBLOCK | O_NOCTTY;

/// Where the system shows the descriptors of this process.
#[cfg(target_os = "linux")]
const DESCRIPTORS: &str = "/proc/self/fd";

#[cfg(target_os = "linux")]
static HAS_DESCRIPTORS: LazyLock<bool> = LazyLock::new(|| Path::new(DESCRIPTORS).is_dir());

/// Why a file is not read. The text continues a sentence that begins with the name of the file.
#[derive(Debug)]
pub enum OpenError {
    Missing,
    /// `..` or a symbolic link leads out of the directory.
    Outside,
    /// A directory on the way to it is a symbolic link.
    BehindLink,
    /// What it is instead of a regular file.
    NotAFile(&'static str),
    TooLarge {
        bytes: u64,
        limit: u64,
    },
    /// It is JSON of more values than are decoded.
    TooManyValues {
        limit: usize,
    },
    Io(io::Error),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("does not exist"),
            Self::Outside => f.write_str("leads out of the directories of the trial"),
            Self::BehindLink => f.write_str("is behind a symbolic link"),
            Self::NotAFile(kind) => write!(f, "is {kind}, not a regular file"),
            Self::TooLarge { bytes, limit } => write!(f, "has {bytes} bytes, more than {limit}"),
            Self::TooManyValues { limit } => write!(f, "has more than {limit} values"),
            Self::Io(error) => write!(f, "cannot be read: {error}"),
        }
    }
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            _ => Self::Io(error),
        }
    }
}

impl From<OpenError> for io::Error {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Missing => Self::new(io::ErrorKind::NotFound, "it does not exist"),
            OpenError::Io(error) => error,
            other => Self::other(format!("it {other}")),
        }
    }
}

/// What an entry of a directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    Directory,
    File,
    Link,
    /// A pipe, socket or device.
    Other,
}

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

/// A directory.
#[derive(Debug)]
pub struct Handle {
    path: PathBuf,
    /// What the path names on Linux.
    _descriptor: Option<File>,
}

impl Handle {
    /// Opens a directory of ours. Its last component must not be a link.
    ///
    /// # Errors
    ///
    /// If it is not a directory, or cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(handle) = Self::by_descriptor(path, CAREFUL)? {
            return Ok(handle);
        }
        match fs::symlink_metadata(path)?.is_dir() {
            true => Ok(Self { path: path.to_owned(), _descriptor: None }),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// A directory that is used through its descriptor; `None` without `/proc`.
    #[cfg(target_os = "linux")]
    fn by_descriptor(path: &Path, flags: c_int) -> io::Result<Option<Self>> {
        use std::os::fd::AsRawFd;
        let directory = File::options().read(true).custom_flags(flags | O_DIRECTORY | O_NOFOLLOW).open(path)?;
        let path = Path::new(DESCRIPTORS).join(directory.as_raw_fd().to_string());
        Ok(HAS_DESCRIPTORS.then_some(Self { path, _descriptor: Some(directory) }))
    }

    /// Opens a directory in this one. It must not be a link.
    ///
    /// # Errors
    ///
    /// If it is not a directory, or cannot be opened.
    pub fn directory(&self, name: &OsStr) -> io::Result<Self> {
        Self::open(&self.path.join(name))
    }

    /// Opens a directory below this one, to which no link leads.
    ///
    /// # Errors
    ///
    /// If it is not a directory, or cannot be opened.
    pub fn directory_below(self, path: &Path) -> io::Result<Self> {
        path.components().try_fold(self, |directory, component| match component {
            Component::Normal(name) => directory.directory(name),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        })
    }

    /// Makes a directory in this one unless there is one, and opens it.
    ///
    /// # Errors
    ///
    /// If something else has its name, or it cannot be made.
    pub fn make_directory(&self, name: &OsStr) -> io::Result<Self> {
        match fs::create_dir(self.path.join(name)) {
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
        open_regular(&self.path.join(name), File::options().read(true))
    }

    /// Opens a regular file in this directory for reading and writing. It is made if it does not exist, and must not be a link.
    ///
    /// # Errors
    ///
    /// If it is something else, or cannot be opened.
    pub fn shared_file(&self, name: &OsStr, appends: bool) -> Result<File, OpenError> {
        let mut options = File::options();
        open_regular(&self.path.join(name), options.create(true).read(true).write(true).append(appends))
    }

    /// Opens a regular file below this directory, to which no link leads.
    ///
    /// # Errors
    ///
    /// If it is something else, or cannot be opened.
    pub fn file_without_links(&self, path: &Path) -> Result<File, OpenError> {
        let mut names = path.components().peekable();
        let mut parent: Option<Self> = None;
        while let Some(component) = names.next() {
            let here = parent.as_ref().unwrap_or(self);
            match component {
                Component::CurDir => {}
                Component::Normal(name) if names.peek().is_none() => return here.file(name),
                Component::Normal(name) => match here.directory(name) {
                    Ok(directory) => parent = Some(directory),
                    Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                        let is_link = here.link(name).is_ok();
                        return Err(if is_link { OpenError::BehindLink } else { OpenError::Missing });
                    }
                    Err(error) => return Err(error.into()),
                },
                _ => return Err(OpenError::Outside),
            }
        }
        Err(OpenError::NotAFile("a directory"))
    }

    /// Opens a regular file below this directory. Links are followed as long as they stay below it.
    ///
    /// # Errors
    ///
    /// If it is something else, is not below the directory, or cannot be opened.
    pub fn file_below(&self, path: &Path) -> Result<File, OpenError> {
        let (root, path) = (fs::canonicalize(&self.path)?, self.path.join(path));
        let real = fs::canonicalize(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                let existing = path.ancestors().skip(1).find_map(|parent| fs::canonicalize(parent).ok());
                let is_inside = existing.is_some_and(|parent| parent.starts_with(&root));
                if is_inside { OpenError::Missing } else { OpenError::Outside }
            }
            // It leads to itself.
            _ if path.is_symlink() => OpenError::NotAFile("a symbolic link"),
            _ => OpenError::Io(error),
        })?;
        // The real path has no links, and none may be there when the file is opened.
        match real.strip_prefix(&root) {
            Ok(inside) => self.file_without_links(inside),
            Err(_) => Err(OpenError::Outside),
        }
    }

    /// The destination of a link in this directory.
    ///
    /// # Errors
    ///
    /// If it is not a link, or cannot be read.
    pub fn link(&self, name: &OsStr) -> io::Result<PathBuf> {
        fs::read_link(self.path.join(name))
    }

    /// Names and kinds of at most `limit` entries, in no order.
    ///
    /// # Errors
    ///
    /// If the directory cannot be read.
    pub fn entries(&self, limit: usize) -> io::Result<Vec<(OsString, EntryKind)>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.path)?.take(limit) {
            let entry = entry?;
            match entry.file_type() {
                Ok(file_type) => entries.push((entry.file_name(), EntryKind::of(file_type))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(entries)
    }

    /// Makes a file for writing that did not exist.
    ///
    /// # Errors
    ///
    /// If something has its name, or it cannot be made.
    pub fn create(&self, name: &OsStr) -> io::Result<File> {
        File::create_new(self.path.join(name))
    }

    /// Gives an entry another name, in place of what has it.
    ///
    /// # Errors
    ///
    /// If a directory has the name, or the entry cannot be renamed.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let to = self.path.join(to);
        fs::rename(self.path.join(from), &to).map_err(|error| match fs::symlink_metadata(&to) {
            // Windows says that the access is denied.
            Ok(metadata) if metadata.is_dir() => io::ErrorKind::IsADirectory.into(),
            _ => error,
        })
    }

    /// Moves an entry to another directory, where nothing has the name `to`.
    pub fn move_to(&self, name: &OsStr, other: &Self, to: &OsStr) -> io::Result<()> {
        fs::rename(self.path.join(name), other.path.join(to))
    }

    /// Removes what is not a directory.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    pub fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        let path = self.path.join(name);
        // Windows distinguishes links to directories.
        fs::remove_file(&path).or_else(|error| match cfg!(windows) {
            true => fs::remove_dir(&path).map_err(|_| error),
            false => Err(error),
        })
    }

    pub fn remove_empty_directory(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.path.join(name))
    }

    /// Opens a directory in this one after giving its owner all permissions, if they are missing.
    pub fn writable_directory(&self, name: &OsStr) -> io::Result<Self> {
        let directory = self.directory(name);
        #[cfg(target_os = "linux")]
        let directory = match directory {
            // One that cannot be read has a descriptor for its path.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                if let Some(unreadable) = Self::by_descriptor(&self.path.join(name), O_PATH)? {
                    unreadable.make_writable()?;
                }
                self.directory(name)
            }
            result => result,
        };
        let directory = directory?;
        directory.make_writable()?;
        Ok(directory)
    }

    /// Gives the owner all permissions, if they are missing.
    pub fn make_writable(&self) -> io::Result<()> {
        let mut permissions = fs::metadata(&self.path)?.permissions();
        #[cfg(unix)]
        let is_missing = permissions.mode() & 0o700 != 0o700;
        #[cfg(not(unix))]
        let is_missing = permissions.readonly();
        if !is_missing {
            return Ok(());
        }
        #[cfg(unix)]
        permissions.set_mode(permissions.mode() | 0o700);
        #[cfg(not(unix))]
        permissions.set_readonly(false);
        fs::set_permissions(&self.path, permissions)
    }
}

/// Opens a regular file of ours, to which links may lead.
///
/// # Errors
///
/// If it is something else, or cannot be opened.
pub fn regular_file(path: &Path) -> Result<File, OpenError> {
    let mut options = File::options();
    #[cfg(unix)]
    options.custom_flags(CAREFUL);
    open_checked(path, options.read(true), |path| fs::metadata(path))
}

/// Opens a regular file that is not a link.
fn open_regular(path: &Path, options: &mut OpenOptions) -> Result<File, OpenError> {
    #[cfg(unix)]
    options.custom_flags(CAREFUL | O_NOFOLLOW);
    open_checked(path, options, |path| fs::symlink_metadata(path))
}

/// Opens a file, and checks that it is a regular one; `look` finds out what else is there.
fn open_checked(
    path: &Path,
    options: &OpenOptions,
    look: fn(&Path) -> io::Result<fs::Metadata>,
) -> Result<File, OpenError> {
    // On Unix, opening neither waits nor follows a link.
    #[cfg(not(unix))]
    if let Ok(found) = look(path) {
        check(found.file_type())?;
    }
    let file = options.open(path).map_err(|error| match look(path).map(|found| check(found.file_type())) {
        Ok(Err(other)) => other,
        _ if error.kind() == io::ErrorKind::NotADirectory => OpenError::Missing,
        _ => error.into(),
    })?;
    check(file.metadata()?.file_type())?;
    Ok(file)
}

fn check(file_type: FileType) -> Result<(), OpenError> {
    match EntryKind::of(file_type) {
        EntryKind::File => Ok(()),
        EntryKind::Directory => Err(OpenError::NotAFile("a directory")),
        EntryKind::Link => Err(OpenError::NotAFile("a symbolic link")),
        #[cfg(unix)]
        EntryKind::Other if file_type.is_fifo() => Err(OpenError::NotAFile("a named pipe")),
        EntryKind::Other => Err(OpenError::NotAFile("a socket or device")),
    }
}
