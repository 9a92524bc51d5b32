//! Sealed commands: the kernel confines them to what they may use. [`decision::decide`] says whether one is sealed and what its record says;
//! [`SealedStart::spawn`] starts it.
//!
//! Only on Linux, with the feature `sealed`: elsewhere, `without_seal.rs` takes its place. A thread of its own restricts itself with Landlock and
//! with a seccomp filter for sockets, then starts the program, which inherits both for good. User and network namespaces are not used: containers often forbid them, as a mapped user they need a file that
//! Landlock closes, and what they would add, UDP and Unix sockets, the filter covers.

pub(crate) mod decision;
pub(crate) mod named_files;

mod enforcement;
mod opened_paths;
#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;

use evalsuite_records::record::SealRecord;

use crate::platform::seal_terms::{SealRefusal, SealedFiles};
use crate::platform::sealed::enforcement::SealRules;
use crate::platform::sealed::opened_paths::OwnDirectories;

/// How a sealed command starts.
#[derive(Debug, Clone)]
pub(crate) struct SealedStart {
    rules: SealRules,
    files: SealedFiles,
    /// Its home directory, and its directory for temporary files.
    directories: Arc<OwnDirectories>,
}

impl SealedStart {
    /// With directories of its own.
    pub(crate) fn new(rules: SealRules, files: SealedFiles) -> Result<Self, Box<SealRefusal>> {
        let directories = OwnDirectories::new().map_err(|error| {
            let message = format!("the command cannot be sealed: its directory {error}");
            Box::new(SealRefusal { record: SealRecord::unsealed("it has no directory of its own"), message })
        })?;
        Ok(Self { rules, files, directories: Arc::new(directories) })
    }

    /// The same, with files that a command names and directories of its call.
    #[cfg_attr(not(feature = "cli-agents"), allow(dead_code, reason = "only calls of agents have files of their own"))]
    pub(crate) fn with(&self, named: Vec<PathBuf>, own: Vec<PathBuf>) -> Self {
        let mut start = self.clone();
        start.files.named.extend(named);
        start.files.own.extend(own);
        start
    }

    /// Starts the command with these rules. A rule that cannot be enforced is an error: the command does not start.
    pub(crate) fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        let not_sealed = |error: &dyn std::fmt::Display| io::Error::other(format!("it cannot be sealed: {error}"));
        self.directories.link(self.files.read.iter().chain(&self.files.write)).map_err(|error| not_sealed(&error))?;
        enforcement::confine(command, &self.directories);
        enforcement::spawn(command, self).map_err(|error| match error {
            enforcement::Failure::Seal(error) => not_sealed(&error),
            enforcement::Failure::Start(error) => error,
        })
    }
}
