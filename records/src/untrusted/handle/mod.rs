//! An open directory.

#[cfg(not(unix))]
mod portable;
#[cfg(unix)]
mod unix;

use std::fs::File;
use std::io;
use std::path::{Component, Path};

use crate::untrusted::OpenError;

#[cfg(not(unix))]
pub use self::portable::{Handle, regular_file};
#[cfg(unix)]
pub use self::unix::{Handle, regular_file};

/// What an entry of a directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    Directory,
    File,
    Link,
    /// A pipe, socket or device.
    Other,
}

impl Handle {
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
}
