//! Directories and files that programs under test may change while this process uses them.
//!
//! All files that an agent leaves, and all files of run directories, are opened here: component by component from a
//! trusted directory, without following links out of it, only regular files, without waiting, and read up to a limit.
//! Nothing is checked by its path before it is opened, because the path may have another target a moment later.

pub(crate) mod directory;
pub(crate) mod handle;
pub(crate) mod limits;
pub(crate) mod open_error;
pub(crate) mod removal;
#[cfg(all(test, unix))]
mod tests;

pub(crate) use self::directory::UntrustedDirectory;
pub(crate) use self::handle::{EntryKind, Handle, regular_file};
pub(crate) use self::limits::FileLimits;
pub(crate) use self::open_error::OpenError;
pub(crate) use self::removal::{remove_directory, remove_directory_within};
