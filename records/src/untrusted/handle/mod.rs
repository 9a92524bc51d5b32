//! An open directory.

#[cfg(not(unix))]
mod portable;
#[cfg(unix)]
mod unix;

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
