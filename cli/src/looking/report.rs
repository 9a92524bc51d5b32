//! `cargo evalsuite report`.

use std::collections::HashSet;
use std::io;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use evalsuite_records::file_replacement::error_at;
use evalsuite_records::summary::summarize_run;
use evalsuite_report::{
    Details, Format, HtmlReport, LARGE_FILE, Problem, RunData, SuiteText, Written, earlier_runs, judged_rates,
};

use crate::command_line::{PrintedReport, Report, ReportedCases};
use crate::locate::stored_runs;
use crate::platform::line_width;

/// The most problems that are printed.
const SHOWN_PROBLEMS: usize = 20;

pub(crate) fn run(command: &Report) -> io::Result<ExitCode> {
    let run = match stored_runs::find(&command.run)? {
        Ok(run) => RunData::read(run.path())?,
        Err(code) => return Ok(code),
    };
    let (mut problems, mut named) = (run.problems.clone(), Vec::new());
    for (format, path) in &command.files.0 {
        let mut exported = format.write(&run, path)?;
        problems.append(&mut exported.problems);
        named.append(&mut exported.named);
    }
    print(command, &run)?;
    named.iter().try_for_each(|file| writeln!(anstream::stdout().lock(), "{}", file.display()))?;
    if command.html.is_some() || command.html_dir.is_some() {
        match write_html(command, run)? {
            Ok(found) => problems.extend(found),
            Err(code) => return Ok(code),
        }
    }
    // Several files are written from the same records.
    let mut reported = HashSet::new();
    problems.retain(|problem| reported.insert((problem.file.clone(), problem.message.clone())));
    for problem in problems.iter().take(SHOWN_PROBLEMS) {
        anstream::eprintln!("warning: {}: {}", problem.file, problem.message);
    }
    if let Some(more @ 1..) = problems.len().checked_sub(SHOWN_PROBLEMS) {
        anstream::eprintln!("warning: {more} more files could not be read; the report lists them");
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the run, as text unless a file was asked for instead.
fn print(command: &Report, run: &RunData) -> io::Result<()> {
    let has_files = !command.files.0.is_empty() || command.html.is_some() || command.html_dir.is_some();
    let format = match command.format {
        Some(PrintedReport::Github) => Format::named("github"),
        Some(PrintedReport::Json) => Format::named("json"),
        None if has_files => return Ok(()),
        Some(PrintedReport::Human) | None => None,
    };
    let mut out = anstream::stdout().lock();
    if let Some(format) = format {
        return write!(out, "{}", format.text(run)?.unwrap_or_default());
    }
    for suite in &summarize_run(&run.directory)?.suites {
        write!(out, "{}", SuiteText::new(suite, run).with_width(line_width::of_output()))?;
    }
    print_judged_rates(&mut out, run)
}

/// Prints how often judges let answers pass, beside the rates corrected by the calibration of the run.
pub(crate) fn print_judged_rates(out: &mut impl Write, run: &RunData) -> io::Result<()> {
    let rates = judged_rates(run);
    if !rates.is_empty() {
        writeln!(out, "judged graders, corrected by calibration")?;
    }
    rates.iter().try_for_each(|rate| writeln!(out, "  {rate}"))
}

/// Writes the HTML that was asked for; returns what could not be read, or the exit code if the baseline does not exist.
fn write_html(command: &Report, run: RunData) -> io::Result<Result<Vec<Problem>, ExitCode>> {
    let history = earlier_runs(&run, command.history)?;
    let mut report = HtmlReport::new(run).with_history(history);
    if let Some(baseline) = &command.baseline {
        match stored_runs::find(baseline)? {
            Ok(baseline) => report = report.with_base(RunData::read_cases(baseline.path())?),
            Err(code) => return Ok(Err(code)),
        }
    }
    if command.only == Some(ReportedCases::Failed) {
        report = report.with_details(Details::NotPassed);
    }
    let mut problems = Vec::new();
    if let Some(file) = &command.html {
        let written = report.write_file(file).map_err(|error| error_at(file, &error))?;
        print_size(file, &written)?;
        if written.bytes > LARGE_FILE {
            anstream::eprintln!(
                "warning: browsers take long to open a file of this size; use --html-dir, or --only failed"
            );
        }
        problems = written.problems;
    }
    if let Some(directory) = &command.html_dir {
        let written = report.write_directory(directory).map_err(|error| error_at(directory, &error))?;
        print_size(&directory.join("index.html"), &written)?;
        problems = written.problems;
    }
    Ok(Ok(problems))
}

#[allow(clippy::cast_precision_loss, reason = "sizes of reports are far below 2^53 bytes")]
fn print_size(file: &Path, written: &Written) -> io::Result<()> {
    let size = match written.bytes {
        bytes @ ..1_000_000 => format!("{:.0} kB", bytes as f64 / 1e3),
        bytes => format!("{:.1} MB", bytes as f64 / 1e6),
    };
    writeln!(anstream::stdout().lock(), "{} ({size})", file.display())
}
