//! Mutated inputs for everything that reads files, in a process per target. The process that waits for it is its watchdog.

mod corpus;
mod mutation;
mod targets;
mod watchdog;
mod worker;

use std::path::{Path, PathBuf};

pub use self::worker::{replay, work};

pub(crate) use self::targets::{LARGE, TARGETS};
pub(crate) use self::watchdog::run;

/// Executions of one target.
#[derive(Debug, Clone)]
pub struct Job {
    /// Name of the target.
    pub target: String,
    /// With the number of an execution, it determines the input.
    pub seed: u64,
    /// The first execution.
    pub from: u64,
    /// The execution after the last one.
    pub to: u64,
    /// Where findings are written.
    pub findings: PathBuf,
}

/// What executions of a target took, and what they found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Measured {
    pub(crate) executions: u64,
    /// Most processor time of an execution, in microseconds.
    pub(crate) longest_us: u64,
    /// Most memory of an execution, in bytes.
    pub(crate) largest: u64,
    /// One line each.
    pub(crate) findings: Vec<String>,
}

/// The directory of a finding.
fn finding_directory(findings: &Path, target: &str, seed: u64, index: u64) -> PathBuf {
    findings.join(format!("{target}-{seed}-{index}"))
}
