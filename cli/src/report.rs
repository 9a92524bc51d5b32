//! `cargo evalsuite report`.

use std::io;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use evalsuite_report::{Details, HtmlReport, LARGE_FILE, RunData, Written, earlier_runs};

use crate::command_line::{Report, ReportedCases};
use crate::stored_runs;

/// The most problems that are printed.
const SHOWN_PROBLEMS: usize = 20;

pub(crate) fn run(command: &Report) -> io::Result<ExitCode> {
    let run = match stored_runs::find(&command.run)? {
        Ok(run) => RunData::read(run.path())?,
        Err(code) => return Ok(code),
    };
    let history = earlier_runs(&run, command.history)?;
    let mut report = HtmlReport::new(run).with_history(history);
    if let Some(baseline) = &command.baseline {
        match stored_runs::find(baseline)? {
            Ok(baseline) => report = report.with_base(RunData::read_cases(baseline.path())?),
            Err(code) => return Ok(code),
        }
    }
    if command.only == Some(ReportedCases::Failed) {
        report = report.with_details(Details::NotPassed);
    }
    let mut problems = Vec::new();
    if let Some(file) = &command.html {
        let written = report.write_file(file).map_err(|error| at(file, &error))?;
        print_size(file, &written)?;
        if written.bytes > LARGE_FILE {
            anstream::eprintln!(
                "warning: browsers take long to open a file of this size; use --html-dir, or --only failed"
            );
        }
        problems = written.problems;
    }
    if let Some(directory) = &command.html_dir {
        let written = report.write_directory(directory).map_err(|error| at(directory, &error))?;
        print_size(&directory.join("index.html"), &written)?;
        problems = written.problems;
    }
    for problem in problems.iter().take(SHOWN_PROBLEMS) {
        anstream::eprintln!("warning: {}: {}", problem.file, problem.message);
    }
    if let Some(more @ 1..) = problems.len().checked_sub(SHOWN_PROBLEMS) {
        anstream::eprintln!("warning: {more} more files could not be read; the report lists them");
    }
    Ok(ExitCode::SUCCESS)
}

#[allow(clippy::cast_precision_loss, reason = "sizes of reports are far below 2^53 bytes")]
fn print_size(file: &Path, written: &Written) -> io::Result<()> {
    let size = match written.bytes {
        bytes @ ..1_000_000 => format!("{:.0} kB", bytes as f64 / 1e3),
        bytes => format!("{:.1} MB", bytes as f64 / 1e6),
    };
    writeln!(anstream::stdout().lock(), "{} ({size})", file.display())
}

fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
