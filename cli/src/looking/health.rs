//! `cargo evalsuite health`.

use evalsuite_diagnostics::suggest::did_you_mean;
use evalsuite_records::run_directory::OutputDirectory;
use evalsuite_report::{Health as Report, HealthOptions, RunData};

use crate::command_line::Health;
use crate::locate::{baselines, stored_runs};
use crate::platform::cli_error::{CliError, Exit, Result};
use crate::platform::output::print;

pub(crate) fn run(command: &Health) -> Result<Exit> {
    for (flag, share) in
        [("--mature", command.mature), ("--broken", command.broken), ("--saturated", command.saturated)]
    {
        if !(0.0..=1.0).contains(&share) {
            let message = format!("{flag} must be between 0 and 1, and is {share}");
            return Err(CliError::new(message));
        }
    }
    let mut options = HealthOptions::default();
    (options.mature, options.graduation_runs) = (command.mature, command.graduation_runs);
    (options.broken, options.broken_trials) = (command.broken, command.broken_trials);
    options.saturated = command.saturated;
    let output = stored_runs::output_path()?;
    let health = Report::of_output(&output, &command.suites, command.window, &options)?;
    for unknown in &command.suites {
        let is_listed = health.suites.iter().any(|suite| suite.suite == *unknown);
        if is_listed || !Report::of_output(&output, std::slice::from_ref(unknown), 1, &options)?.window.is_empty() {
            continue;
        }
        let all = Report::of_output(&output, &[], command.window, &options)?;
        let meant = did_you_mean(unknown, all.suites.iter().map(|suite| suite.suite.as_str()));
        let message = format!("no run in {} has results of suite `{unknown}`", output.display());
        return Err(CliError::with_suggestion(message, meant));
    }
    let Some(newest) = health.window.first() else {
        return Err(stored_runs::no_runs("there are no runs with results", &output));
    };
    let run = RunData::read(OutputDirectory::new(&output).run_directory(&newest.run))?;
    let health = health.with_probes(&baselines::read_probes(&run)?);
    print(command.format, &health, |out| write!(out, "{health}"))?;
    Ok(Exit::Good)
}
