//! `cargo evalsuite finish`.

use std::io;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use evalsuite::tooling::{SummaryText, finish_run};

use crate::command_line::Finish;
use crate::stored_runs;

pub(crate) fn run(command: &Finish) -> io::Result<ExitCode> {
    let run = match stored_runs::find(&command.run)? {
        Ok(run) => run,
        Err(code) => return Ok(code),
    };
    Ok(if finish_and_summarize(run.path())? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Finishes a run and prints its summary; `false` if a hook failed or something could not be removed.
///
/// # Errors
///
/// If the run's files cannot be read or written.
pub(crate) fn finish_and_summarize(run: &Path) -> io::Result<bool> {
    let finished = finish_run(run).map_err(io::Error::other)?;
    let mut out = anstream::stdout().lock();
    match finished.hooks {
        0 => writeln!(out, "no hooks were left to run")?,
        1 => writeln!(out, "1 hook was run")?,
        hooks => writeln!(out, "{hooks} hooks were run")?,
    }
    writeln!(out, "{}", finished.file.display())?;
    for suite in &finished.summary.suites {
        write!(out, "{}", SummaryText::new(suite))?;
        for problem in &suite.problems {
            writeln!(out, "{}: {problem}", suite.suite)?;
        }
    }
    for problem in &finished.problems {
        anstream::eprintln!("error: {problem}");
    }
    Ok(finished.problems.is_empty())
}
