//! The files of `cargo evalsuite report` that tools for traces and logs read.

use std::fs;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use evalsuite_report::{InspectFormat, Problem, RunData, inspect_logs, otel, trace};

use crate::command_line::Report;
use crate::platform::cli_error::{AtPath, CliError, Result};
use crate::platform::output::stdout;

/// Names of the files with OpenTelemetry data.
const SPANS: &str = "run.traces.jsonl";
const RESULTS: &str = "run.logs.jsonl";

/// Writes the files that were asked for; returns the files of the run that could not be read.
///
/// # Errors
///
/// If a file cannot be written, or one file is asked for that would have to hold several logs.
pub(crate) fn write(command: &Report, run: &RunData) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    if let Some(path) = &command.inspect_log {
        problems.extend(write_inspect_logs(path, run)?);
    }
    if let Some(directory) = &command.otel {
        fs::create_dir_all(directory).at(directory)?;
        let (spans, results) = (directory.join(SPANS), directory.join(RESULTS));
        problems.extend(write_file(&spans, |spans| write_file(&results, |results| otel(run, spans, results)))?);
    }
    if let Some(file) = &command.trace {
        problems.extend(write_file(file, |out| trace(run, out))?);
    }
    Ok(problems)
}

/// Writes one log to a file, or the logs of all suites and targets to a directory.
fn write_inspect_logs(path: &Path, run: &RunData) -> Result<Vec<Problem>> {
    let logs = inspect_logs(run);
    let Some(format) = InspectFormat::of_file(path) else {
        fs::create_dir_all(path).at(path)?;
        let mut problems = Vec::new();
        for log in &logs {
            let file = path.join(log.file_name(log.format()));
            problems.extend(write_file(&file, |out| log.write(log.format(), out))?);
            writeln!(stdout(), "{}", file.display())?;
        }
        return Ok(problems);
    };
    let [log] = logs.as_slice() else {
        let names: Vec<String> = logs.iter().map(|log| format!("{} @ {}", log.suite(), log.target())).collect();
        let message = match names.as_slice() {
            [] => "the run has no cases".to_owned(),
            names => {
                format!("a log holds one suite and target, and the run has {}; name a directory", names.join(", "))
            }
        };
        return Err(CliError::new(format!("{}: {message}", path.display())));
    };
    write_file(path, |out| log.write(format, out))
}

/// Writes a file; errors name it.
fn write_file<E: Into<CliError>>(
    file: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<Vec<Problem>, E>,
) -> Result<Vec<Problem>> {
    let mut out = File::create(file).map(BufWriter::new).at(file)?;
    let problems = write(&mut out).map_err(Into::into)?;
    out.flush().at(file)?;
    Ok(problems)
}
