//! `cargo evalsuite clean`.

use clap::Args;
use evalsuite_records::run_directory::OutputDirectory;
use schemars::JsonSchema;
use serde::Serialize;

use crate::arguments::OutputFormat;
use crate::locate::stored_runs;
use crate::platform::exit_status::{CliError, CommandStatus, Result};
use crate::platform::output::{Progress, print};

/// Remove old runs
///
/// Runs whose tests are still running are kept. Exit status: 0 on success, 2 if a run cannot be removed.
#[derive(Debug, Args)]
pub(crate) struct Clean {
    /// Number of runs to keep; the newest are kept
    #[arg(long, value_name = "N")]
    pub(crate) keep: usize,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// The runs that `clean` removed, and those that are left.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct CleanedRuns {
    /// Name and version of this format.
    #[schemars(extend("const" = "evalsuite.clean/1"))]
    schema: &'static str,
    /// Directory of the runs.
    directory: String,
    /// Ids of the runs that were removed, the newest first.
    removed: Vec<String>,
    /// Ids of the runs that are left, the newest first.
    kept: Vec<String>,
    /// Why runs could not be removed.
    problems: Vec<String>,
}

pub(crate) fn run(command: &Clean) -> Result<CommandStatus> {
    let output = OutputDirectory::new(stored_runs::output_path()?);
    let cleaned = clean(&output, command.keep)?;
    print(command.format, &cleaned, |out| {
        for id in &cleaned.removed {
            writeln!(out, "removed {}", output.run_directory(id).display())?;
        }
        let (removed, count) = (cleaned.removed.len(), cleaned.removed.len() + cleaned.kept.len());
        writeln!(out, "{removed} of {count} runs removed from {}", cleaned.directory)
    })?;
    if cleaned.problems.is_empty() {
        Ok(CommandStatus::Good)
    } else {
        Err(CliError::of_all(CommandStatus::CannotWork, cleaned.problems))
    }
}

/// Removes all but the newest runs.
pub(crate) fn clean(output: &OutputDirectory, keep: usize) -> Result<CleanedRuns> {
    let unfinished = output.remove_unfinished();
    let runs = output.directories_newest_first()?;
    let mut cleaned = CleanedRuns {
        schema: "evalsuite.clean/1",
        directory: output.runs_directory().display().to_string(),
        problems: unfinished.iter().map(|error| format!("cannot remove {error}")).collect(),
        ..CleanedRuns::default()
    };
    let progress = Progress::start("removing runs");
    progress.set_steps("removing runs", runs.len());
    for (index, run) in runs.into_iter().enumerate() {
        progress.step();
        let id = run.id();
        if index < keep || run.is_in_use()? {
            run.remove_leftovers()?;
            cleaned.kept.push(id);
            continue;
        }
        let path = run.path().to_owned();
        match run.remove() {
            Ok(()) => cleaned.removed.push(id),
            Err(error) => {
                cleaned.problems.push(format!("cannot remove {}: {error}", path.display()));
                if path.exists() {
                    cleaned.kept.push(id);
                }
            }
        }
    }
    if output.latest()?.is_some_and(|latest| !cleaned.kept.contains(&latest)) {
        output.set_latest(cleaned.kept.first().map(String::as_str))?;
    }
    Ok(cleaned)
}
