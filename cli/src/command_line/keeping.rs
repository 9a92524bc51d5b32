//! The arguments of commands that finish, merge and remove stored runs.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::OutputFormat;

/// Commands that complete, merge and remove stored runs, in the order of `--help`.
#[derive(Debug, Subcommand)]
pub(crate) enum Keeping {
    Finish(Finish),
    Merge(Merge),
    Clean(Clean),
}

/// Run the pending after_all hooks of a run, remove its base workspaces, and summarize it
///
/// The last test of a suite does this itself where it can know that it is the last. After a run of some tests with nextest,
/// or of several processes with one `EVALSUITE_RUN_ID`, it cannot: then use this command. Exit status: 0 on success, 1 if a
/// hook failed or a case has no record, 2 if tests are still running or the run does not exist, 4 if tests were not
/// started.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite finish\n  cargo evalsuite finish 20261121T080000Z-1f2e3d\n  cargo evalsuite finish --partial"
)]
pub(crate) struct Finish {
    /// Run: its id, its directory, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Tests may be missing, because others were chosen or another machine runs them
    #[arg(long)]
    pub(crate) partial: bool,
    /// Format of the result
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// Merge the parts of a run from several machines
///
/// The parts must have the same run id (set `EVALSUITE_RUN_ID`) and be of the same commit and suite files. Exit status: 0 on
/// success, 1 if the parts contradict each other, 2 if one is missing or the merged run exists; then nothing is written.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cargo evalsuite merge shard-1 shard-2 --into target/evalsuite")]
pub(crate) struct Merge {
    /// Parts: run directories, or output directories, of which the newest run is merged
    #[arg(required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Output directory for the merged run [default: that of the package]
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
    /// Format of the result
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// Remove old runs
///
/// Keeps runs whose tests are still running. Exit status: 0 on success, 2 if a run cannot be removed.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cargo evalsuite clean --keep 20")]
pub(crate) struct Clean {
    /// Number of runs to keep, the newest first
    #[arg(long, value_name = "N")]
    pub(crate) keep: usize,
    /// Format of the result
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}
