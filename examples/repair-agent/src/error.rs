//! Errors of the agent.

use std::error::Error;
use std::path::PathBuf;
use std::{fmt, io};

/// Why the agent could not attempt a repair.
#[derive(Debug)]
#[non_exhaustive]
pub enum RepairError {
    /// A file cannot be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The compiler or a test binary cannot be started.
    Start {
        /// The program.
        program: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The caller cancelled the repair.
    Cancelled,
}

impl fmt::Display for RepairError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RepairError::File { path, .. } => write!(f, "cannot read or write {}", path.display()),
            RepairError::Start { program, .. } => write!(f, "cannot run {}", program.display()),
            RepairError::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl Error for RepairError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            RepairError::File { source, .. } | RepairError::Start { source, .. } => Some(source),
            RepairError::Cancelled => None,
        }
    }
}
