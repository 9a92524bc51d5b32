//! `cargo evalsuite report`.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;
use std::{fs, io};

use evalsuite_records::record::RunSummary;
use evalsuite_records::summary::summarize_run;
use evalsuite_report::{
    Details, HtmlReport, JudgedRate, LARGE_FILE, Problem, RunData, SuiteText, Written, annotations, csv, earlier_runs,
    judged_rates, junit, markdown,
};
use serde::Serialize;

use super::exports;
use crate::command_line::{PrintedReport, Report, ReportedCases};
use crate::locate::stored_runs;
use crate::platform::cli_error::{AtPath, Exit, Result};
use crate::platform::output::{self, print_json, say, stdout};

/// The most problems that are printed.
const SHOWN_PROBLEMS: usize = 20;

/// Turns a run into the text of a file.
type ToText = fn(&RunData) -> io::Result<String>;

pub(crate) fn run(command: &Report) -> Result<Exit> {
    let run = RunData::read(stored_runs::find(&command.run)?.path())?;
    let texts: [(_, ToText); 3] = [(&command.junit, junit), (&command.csv, csv), (&command.json, json)];
    for (file, write) in texts {
        if let Some(file) = file {
            write(&run).and_then(|text| fs::write(file, text)).at(file)?;
        }
    }
    if let Some(file) = &command.markdown {
        append(file, &markdown(&run)).at(file)?;
    }
    print(command, &run)?;
    let mut problems = run.problems.clone();
    problems.extend(exports::write(command, &run)?);
    if command.html.is_some() || command.html_dir.is_some() {
        problems.extend(write_html(command, run)?);
    }
    // Several files are written from the same records.
    let mut reported = HashSet::new();
    problems.retain(|problem| reported.insert((problem.file.clone(), problem.message.clone())));
    for problem in problems.iter().take(SHOWN_PROBLEMS) {
        say!("warning: {}: {}", problem.file, problem.message);
    }
    if let Some(more @ 1..) = problems.len().checked_sub(SHOWN_PROBLEMS) {
        say!("warning: {more} more files could not be read; the report lists them");
    }
    Ok(Exit::Good)
}

/// Prints the run, as text unless a file was asked for instead.
fn print(command: &Report, run: &RunData) -> Result<()> {
    let exported = [&command.junit, &command.markdown, &command.csv, &command.json, &command.inspect_log];
    let viewed = [&command.html, &command.html_dir, &command.otel, &command.trace];
    let mut files = exported.into_iter().chain(viewed);
    let format = match command.format {
        Some(format) => format,
        None if files.any(Option::is_some) => return Ok(()),
        None => PrintedReport::Human,
    };
    let mut out = stdout();
    match format {
        PrintedReport::Github => write!(out, "{}", annotations(run))?,
        PrintedReport::Json => write!(out, "{}", json(run)?)?,
        PrintedReport::Human => {
            for suite in &summarize_run(&run.directory)?.suites {
                write!(out, "{}", SuiteText::new(suite, run).with_width(output::width()))?;
            }
            print_judged_rates(&mut out, run)?;
        }
    }
    Ok(())
}

/// The summary as JSON.
fn json(run: &RunData) -> io::Result<String> {
    let summary = summarize_run(&run.directory).map_err(io::Error::other)?;
    let mut text = Vec::new();
    print_json(&mut text, &PrintedSummary { summary: &summary, judged_rates: judged_rates(run) })?;
    String::from_utf8(text).map_err(io::Error::other)
}

/// Prints how often judges let answers pass, beside the rates corrected by the calibration of the run.
pub(crate) fn print_judged_rates(out: &mut impl Write, run: &RunData) -> io::Result<()> {
    let rates = judged_rates(run);
    if !rates.is_empty() {
        writeln!(out, "judged graders, corrected by calibration")?;
    }
    rates.iter().try_for_each(|rate| writeln!(out, "  {rate}"))
}

/// The summary of a run with what only its report says.
#[derive(Serialize)]
struct PrintedSummary<'a> {
    #[serde(flatten)]
    summary: &'a RunSummary,
    judged_rates: Vec<JudgedRate>,
}

/// Steps of a CI job share the file of its summary.
fn append(file: &Path, text: &str) -> io::Result<()> {
    fs::File::options().create(true).append(true).open(file)?.write_all(text.as_bytes())
}

/// Writes the HTML that was asked for; returns what could not be read.
fn write_html(command: &Report, run: RunData) -> Result<Vec<Problem>> {
    let history = earlier_runs(&run, command.history)?;
    let mut report = HtmlReport::new(run).with_history(history);
    if let Some(baseline) = &command.baseline {
        report = report.with_base(RunData::read_cases(stored_runs::find(baseline)?.path())?);
    }
    if command.only == Some(ReportedCases::Failed) {
        report = report.with_details(Details::NotPassed);
    }
    let mut problems = Vec::new();
    if let Some(file) = &command.html {
        let written = report.write_file(file).at(file)?;
        print_size(file, &written)?;
        if written.bytes > LARGE_FILE {
            say!("warning: browsers take long to open a file of this size; use --html-dir, or --only failed");
        }
        problems = written.problems;
    }
    if let Some(directory) = &command.html_dir {
        let written = report.write_directory(directory).at(directory)?;
        print_size(&directory.join("index.html"), &written)?;
        problems = written.problems;
    }
    Ok(problems)
}

#[allow(clippy::cast_precision_loss, reason = "sizes of reports are far below 2^53 bytes")]
fn print_size(file: &Path, written: &Written) -> io::Result<()> {
    let size = match written.bytes {
        bytes @ ..1_000_000 => format!("{:.0} kB", bytes as f64 / 1e3),
        bytes => format!("{:.1} MB", bytes as f64 / 1e6),
    };
    writeln!(stdout(), "{} ({size})", file.display())
}
