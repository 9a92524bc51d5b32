//! Directories and files that programs under test may change while this process uses them.
//!
//! All files that an agent leaves, and all files of run directories, are opened here: component by component from a
//! trusted directory, without following links out of it, only regular files, without waiting, and read up to a limit.

mod directory;
mod handle;
#[cfg(all(test, unix))]
mod tests;
mod tree_walk;

pub use self::directory::{FileLimits, UntrustedDirectory, read_to_limit};
pub use self::handle::{EntryKind, Handle, OpenError, regular_file};
pub use self::tree_walk::{TreeEntry, Walk, WalkLimits, remove_directory, remove_directory_within, walk, walk_within};
