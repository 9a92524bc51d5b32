//! What can be written on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Check and inspect evaluation suites.
#[derive(Debug, Parser)]
#[command(name = "cargo evalsuite", bin_name = "cargo evalsuite", version, about)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Check(Check),
    Expand(Expand),
    Finish(Finish),
    Clean(Clean),
    Merge(Merge),
    Regrade(Regrade),
    Calibrate(Calibrate),
    Run(Run),
}

/// Check suites as the compiler does, without compiling
///
/// Prints every problem of every file. Exits with 0 if there are none, 1 if there are, 2 if the command line is wrong.
/// Which graders are registered only the compiler knows.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Suites, or directories to search for suites; by default the package or workspace around the current directory
    pub(crate) paths: Vec<PathBuf>,
    /// How problems are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Exit with 1 on warnings too
    #[arg(long)]
    pub(crate) deny_warnings: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people, with the lines of the files
    Text,
    /// One JSON object per line
    Json,
    /// Annotations of GitHub Actions
    Github,
}

/// Print the code that a suite becomes
#[derive(Debug, Args)]
pub(crate) struct Expand {
    /// The suite: its directory or file
    pub(crate) path: PathBuf,
    /// The agent, as in the macro: a path, or `none`
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// A grader, as in the macro: a path, or `name => path`; may be repeated
    #[arg(long = "grader", value_name = "PATH")]
    pub(crate) graders: Vec<String>,
    /// Name of the module
    #[arg(long)]
    pub(crate) name: Option<String>,
}

/// Run what a run's suites still want to be run after all tests, remove base workspaces, and sum the run up
///
/// Tests end their suites themselves where they can know that they are the last: after a run of some tests only with
/// nextest, or of several with one `EVALSUITE_RUN_ID`, this command does. Exits with 0, with 1 if a hook failed or tests
/// still run, 2 if the command line is wrong, 3 if there is no such run.
#[derive(Debug, Args)]
pub(crate) struct Finish {
    /// The run: its id, its directory, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
}

/// Remove old runs
///
/// Runs whose tests are still at work are kept. Exits with 0, with 1 if a run cannot be removed.
#[derive(Debug, Args)]
pub(crate) struct Clean {
    /// Number of runs to keep, the newest ones
    #[arg(long, value_name = "N")]
    pub(crate) keep: usize,
}

/// Put the parts of a run together that several machines have run
///
/// The parts have the same run id, from `EVALSUITE_RUN_ID`, and come from the same files. Exits with 0, with 1 if the parts
/// contradict each other: then nothing is written.
#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// The parts: directories of runs, or of output roots, whose newest run is taken
    #[arg(required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// The output root that gets the run; by default that of the package
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
}

/// Grade what agents did in an earlier run again, without calling them
///
/// Runs `cargo test` with `EVALSUITE_REGRADE`: graders in Rust are part of the tests. Exits as the tests do, 2 if the command
/// line is wrong, 3 if there is no such run.
#[derive(Debug, Args)]
pub(crate) struct Regrade {
    /// The run: its id, its directory, or `latest` for the newest trials of each case
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Run the tests with `cargo nextest run`
    #[arg(long)]
    pub(crate) nextest: bool,
    /// More arguments for `cargo test` or `cargo nextest run`
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) arguments: Vec<String>,
}

/// Measure a judge by answers that people have scored
///
/// Asks the judge of the environment (EVALSUITE_JUDGE_URL and EVALSUITE_JUDGE_MODEL, or EVALSUITE_JUDGE_TARGET) about each
/// answer, and tells how far it agrees with the people: agreement, Cohen's kappa, correlations, errors, and the largest
/// differences. A judge written in Rust is measured by its suite's test `judge_calibration`. Exits with 0, with 1 if the
/// judge is below the bar or fewer than half of the answers were judged, 2 if the command line, the file or the environment
/// is wrong.
#[derive(Debug, Args)]
pub(crate) struct Calibrate {
    /// A JSONL file with a sample per line, a calibration.yaml, or a suite that has one
    pub(crate) file: PathBuf,
    /// Least rank correlation, -1 to 1; by default 0.7, unless the file demands something itself
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub(crate) min_spearman: Option<f64>,
    /// Largest difference of two scores that agree, 0 to 1; by default that of the file, or 0.15
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub(crate) tolerance: Option<f64>,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people
    Text,
    /// The record, as one JSON object
    Json,
}

/// Run the tests of cases, chosen by tag, bucket or name, and sum the run up
///
/// Builds the tests, asks the suites in them for their cases, runs `cargo test` (or nextest) with the names of those that are
/// chosen, then does what `finish` does. All test programs are one run, so hooks after all tests run once. Exits as the tests
/// do, with 1 if nothing is chosen, 2 if the command line is wrong.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Run {
    /// Cases whose id or test contains one of these texts; by default all
    #[arg(value_name = "FILTER")]
    pub(crate) filters: Vec<String>,
    /// Run the tests with `cargo nextest run`
    #[arg(long)]
    pub(crate) nextest: bool,
    /// Cases of suites with this tag; may be repeated, then one of the tags is enough
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// No cases of suites with this tag; may be repeated
    #[arg(long = "exclude-tag", value_name = "TAG")]
    pub(crate) excluded_tags: Vec<String>,
    /// Cases with this `failure_bucket` in their metadata; may be repeated
    #[arg(long = "bucket", value_name = "BUCKET")]
    pub(crate) buckets: Vec<String>,
    #[command(flatten)]
    pub(crate) build: Build,
    /// More arguments for `cargo test` or `cargo nextest run`; after another `--` those of test programs
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) arguments: Vec<String>,
}

/// What is built, as cargo says it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Build")]
pub(crate) struct Build {
    /// Package with the tests; may be repeated
    #[arg(short, long = "package", value_name = "SPEC")]
    pub(crate) packages: Vec<String>,
    /// All packages of the workspace
    #[arg(long)]
    pub(crate) workspace: bool,
    /// Only the tests of the library
    #[arg(long)]
    pub(crate) lib: bool,
    /// Only this test program; may be repeated
    #[arg(long = "test", value_name = "NAME")]
    pub(crate) tests: Vec<String>,
    /// Features to activate; may be repeated
    #[arg(short = 'F', long = "features", value_name = "FEATURES")]
    pub(crate) features: Vec<String>,
    /// All features
    #[arg(long)]
    pub(crate) all_features: bool,
    /// Without the default features
    #[arg(long)]
    pub(crate) no_default_features: bool,
    /// Optimised
    #[arg(short, long)]
    pub(crate) release: bool,
    /// The profile of cargo
    #[arg(long, value_name = "NAME", conflicts_with = "release")]
    pub(crate) profile: Option<String>,
}
