//! Sealed commands: the kernel confines them to what they may use. [`decision::decide`] says whether one is sealed and what its record says;
//! [`SealedStart::spawn`] starts it.
//!
//! On Linux, a thread of its own restricts itself with Landlock and with a seccomp filter for sockets, then starts the program, which
//! inherits both for good. User and network namespaces are not used: containers often forbid them, as a mapped user they need a file that
//! Landlock closes, and what they would add, UDP and Unix sockets, the filter covers.

pub(crate) mod decision;
pub(crate) mod named_files;
pub(crate) mod own_directories;
pub(crate) mod support;

#[cfg(all(target_os = "linux", feature = "sealed"))]
mod enforcement;
#[cfg(all(target_os = "linux", feature = "sealed"))]
mod installations;
#[cfg(all(target_os = "linux", feature = "sealed"))]
mod opened_paths;
#[cfg(all(target_os = "linux", feature = "sealed"))]
mod socket_filter;
mod variables;

use std::io;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;

use crate::platform::sealed::decision::SealRules;
use crate::platform::sealed::own_directories::OwnDirectories;

/// The files that a sealed command may use, in addition to the programs of the system.
#[derive(Debug, Clone, Default)]
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

/// How a sealed command starts.
#[derive(Debug, Clone)]
pub(crate) struct SealedStart {
    pub(crate) rules: SealRules,
    pub(crate) files: SealedFiles,
    /// Its home directory, and its directory for temporary files.
    pub(crate) directories: Arc<OwnDirectories>,
}

impl SealedStart {
    /// Starts the command with these rules. A rule that cannot be enforced is an error: the command does not start.
    pub(crate) fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        let not_sealed = |error: &dyn std::fmt::Display| io::Error::other(format!("it cannot be sealed: {error}"));
        self.directories.link(self.files.read.iter().chain(&self.files.write)).map_err(|error| not_sealed(&error))?;
        variables::confine(command, &self.directories);
        #[cfg(all(target_os = "linux", feature = "sealed"))]
        return enforcement::spawn(command, self).map_err(|error| match error {
            enforcement::Failure::Seal(error) => not_sealed(&error),
            enforcement::Failure::Start(error) => error,
        });
        #[cfg(not(all(target_os = "linux", feature = "sealed")))]
        return Err(not_sealed(&format_args!("{} has no seal", std::env::consts::OS)));
    }
}

#[cfg(all(test, target_os = "linux", feature = "sealed"))]
mod tests;
