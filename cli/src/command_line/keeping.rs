//! The arguments of commands that finish, merge and remove stored runs.

use std::path::PathBuf;

use clap::Args;

use super::OutputFormat;

/// Run the pending after_all hooks of a run, and summarize it
///
/// Also removes the base workspaces of the run. The last test of a suite does this if it can tell that it is the last one. It cannot after
/// a nextest run of some of the tests, or if several processes share one `EVALSUITE_RUN_ID`. Exit status: 0 on success, 1 if a hook failed
/// or a case has no record, 2 if tests are still running or the run does not exist, 4 if tests were not started.
#[derive(Debug, Args)]
#[command(after_help = super::help::examples("finish"))]
pub(crate) struct Finish {
    /// Run: its id, its directory, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Accept that tests are missing, because they were not selected or run on another machine
    #[arg(long)]
    pub(crate) partial: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// Merge the parts of a run from several machines
///
/// The parts must have the same run id (set `EVALSUITE_RUN_ID`), the same commit and the same suite files. Exit status: 0 on success, 1 if
/// the parts contradict each other, 2 if a part is missing or still running, or the merged run already exists. Nothing is written unless the
/// merge succeeds.
#[derive(Debug, Args)]
#[command(after_help = super::help::examples("merge"))]
pub(crate) struct Merge {
    /// Parts: run directories, or output directories, whose newest run is used
    #[arg(required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Output directory for the merged run [default: the output directory of the workspace]
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// Remove old runs
///
/// Runs whose tests are still running are kept. Exit status: 0 on success, 2 if a run cannot be removed.
#[derive(Debug, Args)]
#[command(after_help = super::help::examples("clean"))]
pub(crate) struct Clean {
    /// Number of runs to keep; the newest are kept
    #[arg(long, value_name = "N")]
    pub(crate) keep: usize,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}
