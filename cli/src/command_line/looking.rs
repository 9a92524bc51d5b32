//! The arguments of commands that show suites and runs.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, ValueEnum, value_parser};
use evalsuite_report::{Destination, FORMATS, Format};

use super::{OutputFormat, positive};

/// List the cases of suites, or with --runs the stored runs
///
/// Cases are listed with their graders, runs with their results, the newest first. Exit status: 0 on success, 1 if a suite has errors, 2 if
/// a path does not exist or a run cannot be read.
#[derive(Debug, Args)]
#[command(after_help = super::help::examples("list"))]
pub(crate) struct List {
    /// Suites, or directories to search for suites [default: the package or workspace of the current directory]
    pub(crate) paths: Vec<PathBuf>,
    /// List runs instead of cases
    #[arg(long, conflicts_with = "paths")]
    pub(crate) runs: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// Show the results of a run, or write them in other formats
///
/// Works for finished, running and merged runs, and does not need the sources of the suites. Missing and torn records are listed on
/// standard error, and in HTML and Markdown. Exit status: 0 on success, 2 if a file cannot be written or the run does not exist.
#[derive(Debug, Args)]
#[command(after_help = super::help::examples("report"))]
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
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(crate) only: Option<ReportedCases>,
    /// In HTML, run to compare with: its id or directory [default: the newest earlier run of another commit]
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Option<String>,
    /// In HTML, number of earlier runs in the grid and the trends
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) history: usize,
}

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

/// Show a case of a run in detail, or a transcript in the ATIF format
///
/// Prints the prompt, the transcript step by step, the graders with their assertions, the changes in the workspace, and the cost. Shows the
/// first trial that did not pass, unless `--trial` selects another one. ATIF files may come from any program; evalsuite writes them as
/// trajectory.json. On a terminal, the output goes through `PAGER`; an empty `PAGER` disables the pager. Exit status: 0 on success, 2 if a
/// file or run cannot be read, or if the case, trial or step does not exist.
#[derive(Debug, Args)]
#[command(after_help = super::help::examples("show"))]
pub(crate) struct Show {
    /// Id or test name of a case, or ATIF files
    #[arg(required = true, value_name = "CASE|FILE")]
    pub(crate) names: Vec<String>,
    /// Run: its id, its directory, or `latest`
    #[arg(long, value_name = "RUN", default_value = "latest")]
    pub(crate) run: String,
    /// Show the case of this target only
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Trial to show, counted from 0
    #[arg(long, value_name = "N")]
    pub(crate) trial: Option<u32>,
    /// Show this step of the transcript only, counted from 1
    #[arg(long, value_name = "N")]
    pub(crate) step: Option<usize>,
    /// Write the transcripts to an HTML file instead
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// Find uninformative cases and graders and unreliable judges
///
/// Looks at the newest runs. Prints for each suite and target: the number of mature cases (nearly all trials pass), whether the suite is
/// saturated, cases that are ready for a regression suite, broken cases, and cases that are flaky on one commit; graders that decided no
/// trial; and judges whose model, replies to equal prompts, or agreement with people has changed. Exit status: 0 on success, 2 if there
/// are no such runs.
#[derive(Debug, Args)]
#[command(after_help = super::help::examples("health"))]
pub(crate) struct Health {
    /// Names of suites [default: all]
    #[arg(value_name = "SUITE")]
    pub(crate) suites: Vec<String>,
    /// Number of runs to look at: the newest ones with results of the suites
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = positive)]
    pub(crate) window: usize,
    /// Minimum pass rate of the trials of a mature case, 0 to 1
    #[arg(long, value_name = "RATE", default_value_t = 0.95)]
    pub(crate) mature: f64,
    /// Number of consecutive runs in which a case has to be mature to be ready for a regression suite
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = positive)]
    pub(crate) graduation_runs: usize,
    /// Maximum pass rate of the trials of a broken case, 0 to 1
    #[arg(long, value_name = "RATE", default_value_t = 0.0)]
    pub(crate) broken: f64,
    /// Minimum number of trials of a broken case
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) broken_trials: u32,
    /// Minimum share of mature cases in a saturated suite, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.9)]
    pub(crate) saturated: f64,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}
