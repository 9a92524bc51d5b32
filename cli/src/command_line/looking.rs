//! The arguments of commands that show runs and judge them.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, Subcommand, ValueEnum, value_parser};
use evalsuite_report::{Destination, FORMATS, Format};

use super::{OutputFormat, positive};

/// Commands that show and judge results, in the order of `--help`.
#[derive(Debug, Subcommand)]
pub(crate) enum Looking {
    List(List),
    Show(Show),
    Report(Report),
    Diff(Diff),
    Gate(Gate),
    Health(Health),
    Accept(Accept),
}

/// List suites with their cases and graders, and runs with their results
///
/// Exit status: 0 on success, 1 if a suite has errors, 2 if a run cannot be read.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  cargo evalsuite list\n  cargo evalsuite list suites/shop --format json")]
pub(crate) struct List {
    /// Suites, or directories to search for suites [default: the package or workspace of the current directory]
    pub(crate) paths: Vec<PathBuf>,
    /// Format of the list
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// Show or write what came out of a run
///
/// Prints a summary, or the run in the format of another program. Works on finished, running and merged runs, and does not need the
/// sources of the suites. Records that are missing or torn are listed in HTML and Markdown and on standard error. Exit status: 0 on
/// success, 2 if a file cannot be written or the run does not exist.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite report\n  cargo evalsuite report --html report.html\n  cargo evalsuite report --format github --markdown \"$GITHUB_STEP_SUMMARY\"\n  cargo evalsuite report latest --junit evals.xml --csv evals.csv\n  cargo evalsuite report --inspect-log logs --otel otel --trace trace.json"
)]
pub(crate) struct Report {
    /// Run: its id, its directory, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// What is printed [default: text, and nothing if a file is written]
    #[arg(long, value_enum)]
    pub(crate) format: Option<PrintedReport>,
    #[command(flatten)]
    pub(crate) files: FormatFiles,
    /// Write one self-contained HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write a directory with index.html, which loads prompts, answers and transcripts when they are opened
    #[arg(long, value_name = "DIR")]
    pub(crate) html_dir: Option<PathBuf>,
    /// In HTML, leave out prompts, answers and transcripts of cases whose trials all passed
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(crate) only: Option<ReportedCases>,
    /// Run to compare with: its id or its directory [default: the one before]
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Option<String>,
    /// Number of earlier runs in the grid and the trends
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) history: usize,
}

/// The files in formats of other programs that a run is written to: `--junit FILE` and the like.
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

/// The formats that are not only printed.
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
    /// Cases with a trial that did not pass
    Failed,
}

/// Show a case of a run, or transcripts in ATIF
///
/// Prints what was asked, the transcript step by step, the graders with their assertions, what changed in the workspace, and the cost: of
/// the first trial that did not pass, unless `--trial` chooses another. Files may be from any program: evalsuite's trajectory.json is one
/// of them. On a terminal, `PAGER` shows the text; an empty one is ignored. Exit status: 0 on success, 2 if a file or run cannot be read, or there is no such case, trial or step.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite show refund-large\n  cargo evalsuite show refund-large --trial 1 --step 3\n  cargo evalsuite show trajectory.json --html transcript.html"
)]
pub(crate) struct Show {
    /// Id or test name of a case, or ATIF documents
    #[arg(required = true, value_name = "CASE|FILE")]
    pub(crate) names: Vec<String>,
    /// Run of the case: its id, its directory, or `latest`
    #[arg(long, value_name = "RUN", default_value = "latest")]
    pub(crate) run: String,
    /// Only the case of this target
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Number of the trial; the first is 0
    #[arg(long, value_name = "N")]
    pub(crate) trial: Option<u32>,
    /// Only this step of the transcript; the first is 1
    #[arg(long, value_name = "N")]
    pub(crate) step: Option<usize>,
    /// Write transcripts as an HTML file instead
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// Compare a run with an earlier one
///
/// Pairs the cases whose input and graders are the same. Prints per suite and target the pass rates, the mean difference of the scores
/// with its 95 % interval, the p-value of a permutation test, the smallest difference that would have been seen, and the cases that
/// changed. Where several suites, targets or slices are compared, p-values are adjusted for their number (Holm). Exit status: 0 without
/// a regression, 1 on a regression, 2 if a run does not exist or the comparison is not possible, 4 if fewer than six cases can be
/// compared or more than a tenth has no result.
///
/// With --judge, a judge also says for each of these cases which of the two recorded answers is better. It is asked twice, with each of
/// the answers first; an answer wins if it is better both times, else it is a tie. The judge is the one that the EVALSUITE_JUDGE_*
/// variables set, else the command of targets.yaml that all judge graders of RUN asked, or the command NAME. A win rate below one half that is not chance is a regression, too; a judge whose
/// replies depend on the order in half of the cases, or that gives no judgement about more than a tenth, decides nothing. With --baseline,
/// the answers that `accept --answers` wrote are compared with those of the run. The cost of the judge is printed with the comparison; no
/// budget applies to it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite diff\n  cargo evalsuite diff --baseline --by bucket\n  cargo evalsuite diff --judge\n  cargo evalsuite diff --baseline --judge\n  cargo evalsuite diff --targets small large --judge --criteria \"Is friendly\"\n  cargo evalsuite diff 20261121T080000Z-1f2e3d\n  cargo evalsuite diff 20261121T080000Z-1f2e3d latest --margin 0.02"
)]
pub(crate) struct Diff {
    /// Earlier run: its id or directory [default: the run of the merge base with the default branch, else the newest one before RUN; with a
    /// case in common]
    pub(crate) base: Option<String>,
    /// Run: its id or directory [default: the newest]
    pub(crate) run: Option<String>,
    /// Compare with the results that `accept` wrote; then the one run that may be named is RUN
    #[arg(long, conflicts_with = "run")]
    pub(crate) baseline: bool,
    /// Compare the cases of one target in A with those of another one in B; without A and B, in the newest run
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with = "baseline")]
    pub(crate) targets: Vec<String>,
    /// Ask a judge which answers are better: the command NAME of targets.yaml [default: the judge of EVALSUITE_JUDGE_*, else that of
    /// the run]
    #[arg(long, value_name = "NAME", num_args = 0..=1)]
    pub(crate) judge: Option<Option<String>>,
    /// What makes an answer the better one [default: the criteria of each case]
    #[arg(long, value_name = "TEXT", requires = "judge")]
    pub(crate) criteria: Option<String>,
    #[command(flatten)]
    pub(crate) comparison: ComparisonArguments,
    /// What is printed
    #[arg(long, value_enum, default_value_t = DiffFormat::Human)]
    pub(crate) format: DiffFormat,
}

/// What `diff` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// Text and tables
    #[value(alias = "text")]
    Human,
    /// Markdown, for pull requests and the summary of a CI job
    Markdown,
    /// One JSON object; `cargo evalsuite schema diff` prints its schema
    Json,
}

/// Hold a run against requirements
///
/// The gates are those in the files of the run's suites (`gates`), and those of `--require`.
///
/// A gate is `[KEY:VALUE …] MEASURE OP NUMBER [per KEY]`. Measures: `pass_rate`, `lower(pass_rate)` (the lower end of its 95 %
/// interval), `score`, `cost`, `time`, `p50(time)`, `p95(time)`. Keys: `suite`, `target`, `bucket`, `tag`, `metadata.KEY`. Exit
/// status: 0 if all gates are met, 1 if one is missed or the run has regressed, 2 if a run does not exist or the gates cannot be checked,
/// 4 if it cannot be decided: no cases, missing or torn results, or too few cases to compare.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite gate\n  cargo evalsuite gate --require \"suite:shop p95(time) <= 60s\"\n  cargo evalsuite gate --require \"score >= 0.8 per bucket\" --baseline"
)]
pub(crate) struct Gate {
    /// Run: its id, its directory, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// What the run has to reach besides; may be repeated
    #[arg(long = "require", value_name = "GATE")]
    pub(crate) gates: Vec<String>,
    /// Cases that did not run were not selected, and are not missing
    #[arg(long)]
    pub(crate) selected: bool,
    /// Compare with the results that `accept` wrote; a regression is a missed gate
    #[arg(long, conflicts_with = "base")]
    pub(crate) baseline: bool,
    /// Compare with an earlier run: its id or directory; a regression is a missed gate
    #[arg(long, value_name = "RUN")]
    pub(crate) base: Option<String>,
    #[command(flatten)]
    pub(crate) comparison: ComparisonArguments,
    /// What is printed
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// How runs are compared.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Comparison")]
pub(crate) struct ComparisonArguments {
    /// Key of the cases' metadata: cases with the same value are not independent of each other
    #[arg(long, value_name = "KEY")]
    pub(crate) cluster_by: Option<String>,
    /// Compare every value of this key by itself: `bucket`, `tag` or `metadata.KEY`; may be repeated
    #[arg(long, value_name = "KEY")]
    pub(crate) by: Vec<String>,
    /// How much worse the run may be, 0 to 1: without proof that it is within, the comparison is no success
    #[arg(long, value_name = "M")]
    pub(crate) margin: Option<f64>,
    /// How many cases of a suite may end in an error that had a result in the base; with more, the comparison is no success
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) allow_errors: usize,
}

/// Make the results of a run the baseline of its suites
///
/// Writes a file per suite to `.evalsuite/baselines` of its package, to be committed: how many trials of each case and target passed,
/// their score, and what they are results of. A case is raised freely. It is lowered only if two or more trials all failed, or by
/// `--force`. Prints what changed and what was kept. Exit status: 0 on success, 2 if the run does not exist or
/// cannot be accepted.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite accept\n  cargo evalsuite accept latest --force refund-large\n  cargo evalsuite accept --answers"
)]
pub(crate) struct Accept {
    /// Run: its id, its directory, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Case whose result is accepted even if it is worse; may be repeated
    #[arg(long = "force", value_name = "CASE")]
    pub(crate) forced: Vec<String>,
    /// Also write the answers of trials that passed, for `diff --baseline --judge`; once written, they are kept in step without this flag
    #[arg(long)]
    pub(crate) answers: bool,
}

/// Find cases, graders and judges that say nothing, or nothing reliable, in the last runs
///
/// Prints the window of runs, then per suite and target how many cases are mature (nearly all trials pass) and whether the suite is
/// saturated, cases that are ready for a regression suite, cases that are broken, and cases that are flaky on one commit; graders that
/// decided in no trial; and judges whose model, values for equal prompts, or agreement with people has changed. Exit status: 0, or 2 if
/// there are no such runs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  cargo evalsuite health\n  cargo evalsuite health shop --window 20 --format json")]
pub(crate) struct Health {
    /// Suites by name [default: all]
    #[arg(value_name = "SUITE")]
    pub(crate) suites: Vec<String>,
    /// Number of runs to look at, the newest that have results of the suites
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = positive)]
    pub(crate) window: usize,
    /// Lowest share of passed trials of a mature case, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    pub(crate) mature: f64,
    /// Number of runs in a row in which a case is mature that make it ready for a regression suite
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = positive)]
    pub(crate) graduation_runs: usize,
    /// Highest share of passed trials of a broken case, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) broken: f64,
    /// Fewest trials after which a case is called broken
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) broken_trials: u32,
    /// Lowest share of mature cases of a saturated suite, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.9)]
    pub(crate) saturated: f64,
    /// What is printed
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}
