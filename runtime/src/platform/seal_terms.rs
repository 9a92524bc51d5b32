//! What a sealed command may use, and why a command must not run: also in builds that seal nothing.

use std::path::PathBuf;

use evalsuite_records::record::SealRecord;

/// The files that a sealed command may use, in addition to the programs of the system.
#[derive(Debug, Clone, Default)]
#[cfg_attr(not(all(target_os = "linux", feature = "sealed")), allow(dead_code, reason = "nothing is sealed"))]
pub(crate) struct SealedFiles {
    /// Directories that stay out of reach inside of those that are opened: the suite, its records, the target directory of cargo.
    pub(crate) hidden: Vec<PathBuf>,
    /// What the settings name, to read and to run.
    pub(crate) read: Vec<PathBuf>,
    /// What the settings name, to write as well.
    pub(crate) write: Vec<PathBuf>,
    /// Files that the command names, and input files, also inside of hidden directories.
    pub(crate) named: Vec<PathBuf>,
    /// Its working directory, to read, unless it is hidden.
    pub(crate) working: Option<PathBuf>,
    /// The directories of the trial, to write, also inside of hidden directories.
    pub(crate) own: Vec<PathBuf>,
}

/// A command that must not run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SealRefusal {
    pub(crate) record: SealRecord,
    pub(crate) message: String,
}
