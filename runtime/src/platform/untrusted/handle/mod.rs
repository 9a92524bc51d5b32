//! An open directory.

#[cfg(not(unix))]
mod portable;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use self::portable::{Handle, regular_file};
#[cfg(unix)]
pub(crate) use self::unix::{Handle, regular_file};

/// What an entry of a directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Directory,
    File,
    Link,
    /// A pipe, socket or device.
    Other,
}
