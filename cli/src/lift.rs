//! `cargo evalsuite lift`.

use std::io::{self, Write};

use clap::Args;
use evalsuite_report::RunData;
use evalsuite_report::lift::RunLifts;
use evalsuite_schema::diagnostics::terminal;

use crate::arguments::OutputFormat;
use crate::locate::stored_runs;
use crate::platform::exit_status::{CliError, CommandStatus, Result};
use crate::platform::output::print;

/// Show what a skill adds
///
/// Compares the cases of target `with_skill` with the same cases of target `without_skill` or `old_skill` in one run. Prints for each suite
/// the mean difference of pass rates and scores with its 95% interval and the p-value of a permutation test, as `diff` does; tokens, cost
/// and time; and the expectations that hold in all trials of both arms, or in none. Exit status: 0 on success, 2 if the run does not exist
/// or has nothing to compare. The gate `lift > 0` checks the result.
#[derive(Debug, Args)]
pub(crate) struct Lift {
    /// Run: its id, its directory, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

pub(crate) fn run(command: &Lift) -> Result<CommandStatus> {
    let run = RunData::read(stored_runs::find(&command.run)?.path())?;
    let found = RunLifts::of(&run);
    if found.lifts.is_empty() {
        let message =
            format!("run `{}` has no case of target `with_skill` and of `without_skill` or `old_skill`", found.run);
        let help = "write `\"arms\": [\"with_skill\", \"without_skill\"]` in evals.json, or these targets in EVAL.yaml";
        return Err(CliError::with_help(message, help));
    }
    print(command.format, &found, |out| write!(out, "{}", terminal::lines(&found.to_string())))?;
    Ok(CommandStatus::Good)
}

/// Writes the lifts of a run, if it has any.
pub(crate) fn write_lifts(out: &mut impl Write, run: &RunData) -> io::Result<()> {
    let found = RunLifts::of(run);
    if found.lifts.is_empty() { Ok(()) } else { write!(out, "\n{}", terminal::lines(&found.to_string())) }
}
