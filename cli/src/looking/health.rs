//! `cargo evalsuite health`.

use std::io;
use std::io::Write;
use std::process::ExitCode;

use evalsuite_report::{Health as Report, HealthOptions};

use crate::command_line::{Health, OutputFormat};
use crate::locate::stored_runs;
use crate::platform::exit_status::CANNOT_WORK;
use crate::platform::json_output;

pub(crate) fn run(command: &Health) -> io::Result<ExitCode> {
    for (flag, share) in
        [("--mature", command.mature), ("--broken", command.broken), ("--saturated", command.saturated)]
    {
        if !(0.0..=1.0).contains(&share) {
            let message = format!("{flag} is {share}, which is not from 0 to 1");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
    }
    let mut options = HealthOptions::default();
    (options.mature, options.graduation_runs) = (command.mature, command.graduation_runs);
    (options.broken, options.broken_trials) = (command.broken, command.broken_trials);
    options.saturated = command.saturated;
    let output = stored_runs::output_path()?;
    let health = Report::of_output(&output, &command.suites, command.window, &options)?;
    if let Some(unknown) = command.suites.iter().find(|name| health.suites.iter().all(|suite| suite.suite != **name)) {
        anstream::eprintln!("error: no run in {} has results of suite `{unknown}`", output.display());
        return Ok(ExitCode::from(CANNOT_WORK));
    }
    if health.window.is_empty() {
        anstream::eprintln!("error: there are no runs with results in {}", output.display());
        return Ok(ExitCode::from(CANNOT_WORK));
    }
    let mut out = anstream::stdout().lock();
    match command.format {
        OutputFormat::Human => write!(out, "{health}")?,
        OutputFormat::Json => json_output::print(&mut out, &health)?,
    }
    Ok(ExitCode::SUCCESS)
}
