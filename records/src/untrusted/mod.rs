//! Directories and files that programs under test may change while this process uses them.
//!
//! All files that an agent leaves, and all files of run directories, are opened here: component by component from a
//! trusted directory, without following links out of it, only regular files, without waiting, and read up to a limit.

mod directory;
mod handle;
mod limits;
mod open_error;
mod removal;
#[cfg(all(test, unix))]
mod tests;
mod tree_walk;

pub use self::directory::{UntrustedDirectory, read_to_limit};
pub use self::handle::{EntryKind, Handle, regular_file};
pub use self::limits::FileLimits;
pub use self::open_error::OpenError;
pub use self::removal::{remove_directory, remove_directory_within};
pub use self::tree_walk::{TreeEntry, Walk, WalkLimits, walk, walk_within};
