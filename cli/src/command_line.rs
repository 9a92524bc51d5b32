//! The arguments of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Check, run and inspect evaluation suites.
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
    Explain(Explain),
    Finish(Finish),
    Clean(Clean),
    Merge(Merge),
    Regrade(Regrade),
    Calibrate(Calibrate),
    Run(Run),
}

/// Check suites as the compiler does, without compiling
///
/// Prints every problem of every file; one that many places share is printed once with their number. Inside a package, the arguments
/// of `include_eval_suite!` and `evalsuite_build::generate` in its sources are used, and calls whose arguments are not literal are
/// named. Exit status: 0 if there are no problems, 1 if there are, 2 if the command line is invalid.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Suites, or directories to search for suites [default: the package or workspace of the current directory]
    pub(crate) paths: Vec<PathBuf>,
    /// Format of the problems
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Exit with status 1 on warnings too
    #[arg(long)]
    pub(crate) deny_warnings: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text with the lines of the files
    Text,
    /// One JSON object per line
    Json,
    /// GitHub Actions annotations
    Github,
}

/// Print the code that a suite expands to
#[derive(Debug, Args)]
pub(crate) struct Expand {
    /// Directory or file of the suite
    pub(crate) path: PathBuf,
    /// Agent, as in the macro: a path, or `none`
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// Grader, as in the macro: a path, or `name => path`; may be repeated
    #[arg(long = "grader", value_name = "PATH")]
    pub(crate) graders: Vec<String>,
    /// Name of the generated module
    #[arg(long)]
    pub(crate) name: Option<String>,
}

/// Explain a diagnostic: what it means, why it is reported, an example, and how to fix it
///
/// Example: `cargo evalsuite explain E019`. Exit status: 0 on success, 2 if there is no such diagnostic.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Code or name, such as `E019` or `unknown-key` [default: list all]
    pub(crate) diagnostic: Option<String>,
}

/// Run the pending after_all hooks of a run, remove its base workspaces, and summarize it
///
/// The last test of a suite does this itself where it can know that it is the last. After a run of some tests with nextest,
/// or of several processes with one `EVALSUITE_RUN_ID`, it cannot: then use this command. Exit status: 0 on success, 1 if a
/// hook failed or tests are still running, 2 if the command line is invalid, 3 if the run does not exist.
#[derive(Debug, Args)]
pub(crate) struct Finish {
    /// Run: its id, its directory, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
}

/// Remove old runs
///
/// Keeps runs whose tests are still running. Exit status: 0 on success, 1 if a run cannot be removed.
#[derive(Debug, Args)]
pub(crate) struct Clean {
    /// Number of runs to keep, the newest first
    #[arg(long, value_name = "N")]
    pub(crate) keep: usize,
}

/// Merge the parts of a run from several machines
///
/// The parts must have the same run id (set `EVALSUITE_RUN_ID`) and be of the same commit and suite files. Exit status: 0 on
/// success, 1 if the parts contradict each other; then nothing is written.
#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// Parts: run directories, or output directories, of which the newest run is merged
    #[arg(required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Output directory for the merged run [default: that of the package]
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
}

/// Grade the evidence of an earlier run again, without calling agents
///
/// Runs `cargo test` with `EVALSUITE_REGRADE`, because graders in Rust are part of the tests. Exit status: that of the tests, 2
/// if the command line is invalid, 3 if the run does not exist.
#[derive(Debug, Args)]
pub(crate) struct Regrade {
    /// Run: its id, its directory, or `latest` for the newest trials of each case
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Run the tests with `cargo nextest run`
    #[arg(long)]
    pub(crate) nextest: bool,
    /// Further arguments of `cargo test` or `cargo nextest run`
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) arguments: Vec<String>,
}

/// Compare a judge's scores with those of people
///
/// Asks the judge of the environment (EVALSUITE_JUDGE_URL and EVALSUITE_JUDGE_MODEL, or EVALSUITE_JUDGE_TARGET) to rate each
/// sample. Prints how well it agrees with people: agreement, Cohen's kappa, correlations, errors, and the largest differences.
/// A judge in Rust is measured by the test `judge_calibration` of its suite. Exit status: 0 on success, 1 if the judge is below
/// the required minimum or rated fewer than half of the samples, 2 if the command line, the file or the environment is
/// invalid.
#[derive(Debug, Args)]
pub(crate) struct Calibrate {
    /// JSONL file with one sample per line, calibration.yaml, or suite that has one
    pub(crate) file: PathBuf,
    /// Minimum rank correlation, -1 to 1 [default: 0.7, unless the file sets a minimum]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub(crate) min_spearman: Option<f64>,
    /// Largest difference between scores that agree, 0 to 1 [default: that of the file, or 0.15]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub(crate) tolerance: Option<f64>,
    /// Format of the result
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Text
    Text,
    /// The record as one JSON object
    Json,
}

/// Run the tests of cases chosen by tag, bucket or name, and finish the run
///
/// Builds the tests, lists the cases of their suites, runs `cargo test` or nextest with the chosen ones, then does what
/// `finish` does. All test programs belong to one run, so after_all hooks run once. Exit status: that of the tests, 1 if no
/// case is chosen, 2 if the command line is invalid.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Run {
    /// Only cases whose id or test name contains one of these texts
    #[arg(value_name = "FILTER")]
    pub(crate) filters: Vec<String>,
    /// Run the tests with `cargo nextest run`
    #[arg(long)]
    pub(crate) nextest: bool,
    /// Only cases of suites with this tag, or with any of these if repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Not the cases of suites with this tag; may be repeated
    #[arg(long = "exclude-tag", value_name = "TAG")]
    pub(crate) excluded_tags: Vec<String>,
    /// Only cases with this `failure_bucket` in their metadata; may be repeated
    #[arg(long = "bucket", value_name = "BUCKET")]
    pub(crate) buckets: Vec<String>,
    #[command(flatten)]
    pub(crate) build: Build,
    /// Further arguments of `cargo test` or `cargo nextest run`, and after another `--`, of test programs
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) arguments: Vec<String>,
}

/// The options of cargo that choose what is built.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Build")]
pub(crate) struct Build {
    /// Package to test; may be repeated
    #[arg(short, long = "package", value_name = "SPEC")]
    pub(crate) packages: Vec<String>,
    /// Test all packages of the workspace
    #[arg(long)]
    pub(crate) workspace: bool,
    /// Test only the library
    #[arg(long)]
    pub(crate) lib: bool,
    /// Test only this test program; may be repeated
    #[arg(long = "test", value_name = "NAME")]
    pub(crate) tests: Vec<String>,
    /// Features to activate; may be repeated
    #[arg(short = 'F', long = "features", value_name = "FEATURES")]
    pub(crate) features: Vec<String>,
    /// Activate all features
    #[arg(long)]
    pub(crate) all_features: bool,
    /// Do not activate the default features
    #[arg(long)]
    pub(crate) no_default_features: bool,
    /// Build with optimizations
    #[arg(short, long)]
    pub(crate) release: bool,
    /// Build with this profile
    #[arg(long, value_name = "NAME", conflicts_with = "release")]
    pub(crate) profile: Option<String>,
}
