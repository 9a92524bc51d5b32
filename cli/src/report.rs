//! `cargo evalsuite report`.

use std::collections::HashSet;
use std::fmt::Arguments;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Arg, ArgGroup, ArgMatches, Args, Command, FromArgMatches, ValueEnum, value_parser};
use evalsuite_records::summary::summarize_run;
use evalsuite_report::{
    Destination, Details, FORMATS, Format, HtmlReport, LARGE_FILE, Problem, RunData, RunDecision, SuiteText, Written,
    earlier_runs, first_of, judged_rates,
};
use evalsuite_schema::diagnostics::counted;

use crate::locate::stored_runs;
use crate::platform::exit_status::{CommandStatus, ErrorContext, Result};
use crate::platform::output::{self, say, stdout};

/// Show the results of a run, or write them in other formats
///
/// Works for finished, running and merged runs, and does not need the sources of the suites. Missing and damaged records are listed on
/// standard error, and in HTML and Markdown. Exit status: 0 on success, 2 if a file cannot be written or the run does not exist.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new(HTML).args(["html", "html_dir"]).multiple(true))]
pub(crate) struct Report {
    /// Run: its id, its directory, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Output format [default: human, or no output if a file is written]
    #[arg(long, value_enum)]
    pub(crate) format: Option<PrintedReport>,
    #[command(flatten)]
    pub(crate) files: FormatFiles,
    /// Write one self-contained HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write a directory whose index.html loads prompts, answers and transcripts on demand
    #[arg(long, value_name = "DIR")]
    pub(crate) html_dir: Option<PathBuf>,
    /// In HTML, omit prompts, answers and transcripts of other cases
    #[arg(long, value_enum, value_name = "WHICH", requires = HTML)]
    pub(crate) only: Option<ReportedCases>,
    /// In HTML, run to compare with: its id or directory [default: the newest earlier run of another commit]
    #[arg(long, value_name = "RUN", requires = HTML)]
    pub(crate) baseline: Option<String>,
    /// In HTML, number of earlier runs in the grid and the trends
    #[arg(long, value_name = "N", default_value_t = 10, requires = HTML)]
    pub(crate) history: usize,
}

/// The arguments that write HTML.
const HTML: &str = "written_html";

/// The files that a run is written to in formats of other programs, such as `--junit FILE`.
#[derive(Debug)]
pub(crate) struct FormatFiles(pub(crate) Vec<(&'static Format, PathBuf)>);

impl Args for FormatFiles {
    fn augment_args(command: Command) -> Command {
        let argument = |format: &Format| {
            let value = match format.destination {
                Destination::Directory => "DIR",
                Destination::FileOrDirectory => "FILE|DIR",
                _ => "FILE",
            };
            let argument = Arg::new(format.name).long(format.name).value_name(value).help(format.about);
            argument.value_parser(value_parser!(PathBuf))
        };
        command.args(written_formats().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FormatFiles {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |format: &'static Format| Some((format, matches.get_one::<PathBuf>(format.name)?.clone()));
        Ok(Self(written_formats().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The formats that are written to files.
fn written_formats() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| format.destination != Destination::Output)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrintedReport {
    /// Tables per suite
    #[value(alias = "text")]
    Human,
    /// The summary as one JSON object, like summary.json
    Json,
    /// GitHub Actions annotations
    Github,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportedCases {
    /// Cases in which a trial did not pass
    Failed,
}

/// The most problems that are printed.
const SHOWN_PROBLEMS: usize = 20;

pub(crate) fn run(command: &Report) -> Result<CommandStatus> {
    let run = RunData::read(stored_runs::find(&command.run)?.path())?;
    let (mut problems, mut named) = (run.problems.clone(), Vec::new());
    for (format, path) in &command.files.0 {
        let mut exported = format.write(&run, path)?;
        problems.append(&mut exported.problems);
        named.append(&mut exported.named);
    }
    print(command, &run)?;
    named.iter().try_for_each(|file| print_file(command, format_args!("{}", file.display())))?;
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
        say!("warning: {} could not be read; the report lists them all", counted(more, "more file"));
    }
    Ok(CommandStatus::Good)
}

/// Prints the run, as text unless a file was asked for instead.
fn print(command: &Report, run: &RunData) -> Result<()> {
    let has_files = !command.files.0.is_empty() || command.html.is_some() || command.html_dir.is_some();
    let format = match command.format {
        Some(PrintedReport::Github) => Format::named("github"),
        Some(PrintedReport::Json) => Format::named("json"),
        None if has_files => return Ok(()),
        Some(PrintedReport::Human) | None => None,
    };
    let mut out = stdout();
    if let Some(format) = format {
        write!(out, "{}", format.text(run)?.unwrap_or_default())?;
        return Ok(());
    }
    for suite in &summarize_run(&run.directory)?.suites {
        write!(out, "{}", SuiteText::new(suite, run).with_width(output::width()))?;
        print_not_started(&mut out, &suite.suite, run.not_started_text(), &suite.not_started)?;
    }
    print_judged_rates(&mut out, run)?;
    crate::lift::write_lifts(&mut out, run)?;
    if let Some(decision) = RunDecision::of(run) {
        write!(out, "\n{decision}")?;
    }
    Ok(())
}

/// Prints the tests of a suite that were not started. `what`: what is known of them.
pub(crate) fn print_not_started(out: &mut dyn Write, suite: &str, what: &str, tests: &[String]) -> io::Result<()> {
    if tests.is_empty() {
        return Ok(());
    }
    writeln!(out, "{suite}: {} {what}: {}", counted(tests.len(), "test"), first_of(tests))
}

/// Prints how often judges let answers pass, beside the rates corrected by the calibration of the run.
pub(crate) fn print_judged_rates(out: &mut impl Write, run: &RunData) -> io::Result<()> {
    let rates = judged_rates(run);
    if !rates.is_empty() {
        writeln!(out, "judged graders, corrected by calibration")?;
    }
    rates.iter().try_for_each(|rate| writeln!(out, "  {rate}"))
}

/// Writes the HTML that was asked for; returns what could not be read.
fn write_html(command: &Report, run: RunData) -> Result<Vec<Problem>> {
    let history = earlier_runs(&run, command.history)?;
    let base = command.baseline.as_deref().map(stored_runs::find).transpose()?;
    base.iter().try_for_each(|base| stored_runs::check_differ(base, &run, None))?;
    let mut report = HtmlReport::new(run).with_history(history);
    if let Some(base) = base {
        report = report.with_base(RunData::read_cases(base.path())?);
    }
    if command.only == Some(ReportedCases::Failed) {
        report = report.with_details(Details::NotPassed);
    }
    let mut problems = Vec::new();
    if let Some(file) = &command.html {
        let written = report.write_file(file).at(file)?;
        print_size(command, file, &written)?;
        if written.bytes > LARGE_FILE {
            say!("warning: browsers open a file of this size slowly; use --html-dir or --only failed");
        }
        problems = written.problems;
    }
    if let Some(directory) = &command.html_dir {
        let written = report.write_directory(directory).at(directory)?;
        print_size(command, &directory.join("index.html"), &written)?;
        problems = written.problems;
    }
    Ok(problems)
}

#[allow(clippy::cast_precision_loss, reason = "sizes of reports are far below 2^53 bytes")]
fn print_size(command: &Report, file: &Path, written: &Written) -> io::Result<()> {
    let size = match written.bytes {
        bytes @ ..1_000_000 => format!("{:.0} kB", bytes as f64 / 1e3),
        bytes => format!("{:.1} MB", bytes as f64 / 1e6),
    };
    print_file(command, format_args!("{} ({size})", file.display()))
}

/// Prints that a file was written. What programs read from standard output has no other lines.
fn print_file(command: &Report, line: Arguments<'_>) -> io::Result<()> {
    match command.format {
        Some(PrintedReport::Json | PrintedReport::Github) => {
            say!("{line}");
            Ok(())
        }
        Some(PrintedReport::Human) | None => writeln!(stdout(), "{line}"),
    }
}
