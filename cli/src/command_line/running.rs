//! The arguments of commands that run tests or ask judges.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{OutputFormat, margin, positive};

/// Run cases, and summarize and compare their results
///
/// Builds the tests, lists the cases of their suites, and runs the selected cases with `cargo test` or nextest. Then summarizes the run as
/// `finish` does, compares its results with the baseline, or with an earlier run of another commit if there is no baseline, and checks the
/// gates of suites that ran completely. All test programs write to one run, so after_all hooks run once. Exit status: 0 if all tests pass and all gates are
/// met, 1 if a test fails or a gate is missed, 2 if no case is selected or the tests cannot be built, 4 if all tests pass and a gate
/// cannot be decided.
///
/// With --until-decided, every selected case runs once, then again, and so on. After each round, and within large ones, its trials are compared
/// with those of the baseline one by one, and the run ends as soon as it is decided. Exit status: 0 if the run is within the margin, 1 if it
/// is worse than the baseline, 4 if neither is shown by the last trial. With EVALSUITE_RUN_ID, an interrupted run continues.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = super::help::examples("run"))]
pub(crate) struct Run {
    /// Run only cases whose id or test name contains one of these texts
    #[arg(value_name = "FILTER")]
    pub(crate) filters: Vec<String>,
    /// Run the tests with `cargo nextest run`
    #[arg(long)]
    pub(crate) nextest: bool,
    /// Run only cases with this tag, of their own or of their suite; if repeated, cases with any of the tags
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Skip cases with this tag; may be repeated
    #[arg(long = "exclude-tag", value_name = "TAG")]
    pub(crate) excluded_tags: Vec<String>,
    /// Run only cases with this `failure_bucket` in their metadata; may be repeated
    #[arg(long = "bucket", value_name = "BUCKET")]
    pub(crate) buckets: Vec<String>,
    /// Run only cases that have changed (files, input, graders, agent, judge, settings), and reuse the newest results of the others.
    /// EVALSUITE_AGENT_DIGEST is the version of the agent [default: a digest of the sources of the packages]
    #[arg(long)]
    pub(crate) changed: bool,
    /// Run only cases whose last result is a failure or an error
    #[arg(long, conflicts_with = "changed")]
    pub(crate) failed: bool,
    /// Run only cases that passed and failed on the same commit in the last N runs with results of the suites
    #[arg(long, value_name = "N", value_parser = positive, conflicts_with_all = ["changed", "failed"])]
    pub(crate) flaky: Option<usize>,
    /// Maximum number of trials that repeat a case that differs from its baseline; 0 disables repeats
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) confirm: Option<u32>,
    /// Record the calls of models that agents make, one file per trial in `.evalsuite/cassettes`: a server on loopback takes the place of
    /// OPENAI_BASE_URL, ANTHROPIC_BASE_URL and the variables of `record` in the macro. Trials run one at a time. Requires the feature `record`
    #[arg(long, conflicts_with_all = ["replay", "until_decided"])]
    pub(crate) record: bool,
    /// Answer the calls of models from the recording, without network and keys. A call that is not in it ends its trial in an error that
    /// shows the difference. Requires the feature `record`
    #[arg(long, conflicts_with_all = ["changed", "until_decided"])]
    pub(crate) replay: bool,
    /// With --replay: wait between the parts of a streamed answer as the recording did
    #[arg(long, requires = "replay")]
    pub(crate) paced: bool,
    /// Run trials in rounds until the run is shown to be worse than the baseline, or within the margin of it
    #[arg(long, requires = "margin", conflicts_with_all = ["changed", "failed", "flaky", "confirm"])]
    pub(crate) until_decided: bool,
    /// With --until-decided: largest acceptable loss of the mean score, such as `10%` or `0.1`
    #[arg(long, value_name = "M", value_parser = margin, requires = "until_decided")]
    pub(crate) margin: Option<f64>,
    /// With --until-decided: run to compare with instead of the baseline, its id or directory
    #[arg(long, value_name = "RUN", requires = "until_decided")]
    pub(crate) base: Option<String>,
    /// With --until-decided: metadata key of dependent cases: cases with the same value are not treated as independent
    #[arg(long, value_name = "KEY", requires = "until_decided")]
    pub(crate) cluster_by: Option<String>,
    /// With --until-decided: fixed number of trials of each case, for a budget; looks then follow O'Brien and Fleming [default: at most
    /// twice the trials in the files]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), requires = "until_decided")]
    pub(crate) trials: Option<u32>,
    /// Output format; with `json`, the output of the tests goes to standard error
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
    /// Arguments for `cargo test` or `cargo nextest run`, and after another `--` for the test programs
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) arguments: Vec<String>,
    #[command(flatten)]
    pub(crate) build: Build,
}

/// On every save, check the suites and run the affected cases
///
/// Builds the tests once, with the feature `reload` of evalsuite, and waits. On every save, checks the suites and runs the affected cases in
/// the existing test programs. Only changes of Rust sources are built. Its
/// runs are stored apart, in target/evalsuite/watch. Nothing runs before the first save. Keys on a
/// terminal: `a` runs all cases, `f` runs failed cases again, the arrows choose a case, `o` opens it in $VISUAL or $EDITOR, `/` filters, `q`
/// quits. Requires the feature `watch`. Exit status: 0 when it is ended, 2 if it cannot start.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = super::help::examples("watch"))]
pub(crate) struct Watch {
    /// Run only cases whose id or test name contains one of these texts
    #[arg(value_name = "FILTER")]
    pub(crate) filters: Vec<String>,
    /// Output format [default: screen on a terminal, else short]
    #[arg(long, value_enum)]
    pub(crate) format: Option<WatchFormat>,
    #[command(flatten)]
    pub(crate) build: Build,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WatchFormat {
    /// A live screen with keys
    Screen,
    /// One line per problem and failed case between the lines `evalsuite: begin` and `evalsuite: end`, for editors
    Short,
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

/// Grade the recorded results of a run again, without calling agents
///
/// Runs the tests with `EVALSUITE_REGRADE`, because graders in Rust are compiled into them. Exit status: 0 if all tests pass, 1 if some
/// fail, 2 if they cannot be built or the run does not exist.
#[derive(Debug, Args)]
#[command(after_help = super::help::examples("regrade"))]
pub(crate) struct Regrade {
    /// Run: its id, its directory, or `latest` for the newest trials of every case
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Run the tests with `cargo nextest run`
    #[arg(long)]
    pub(crate) nextest: bool,
    /// Output format; with `json`, the output of the tests goes to standard error
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
    /// Arguments for `cargo test` or `cargo nextest run`
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) arguments: Vec<String>,
}

/// Compare the scores of a judge with those of people
///
/// Asks the judge of the environment (EVALSUITE_JUDGE_URL and EVALSUITE_JUDGE_MODEL, or EVALSUITE_JUDGE_TARGET) to rate each
/// sample. Prints how well it agrees with people: agreement, Cohen's kappa, correlations, errors, and the largest differences.
/// A judge in Rust is measured by the test `judge_calibration` of its suite. Requires the feature `judge`. Exit status: 0 on success, 1 if the judge misses
/// the required minimum or rated fewer than half of the samples, 2 if the command line, the file or the environment is
/// invalid.
#[derive(Debug, Args)]
#[command(after_help = super::help::examples("calibrate"))]
pub(crate) struct Calibrate {
    /// JSONL file with one sample per line, calibration.yaml, or a suite that has a calibration.yaml
    pub(crate) file: PathBuf,
    /// Minimum rank correlation, -1 to 1 [default: the minimum of the file, else 0.7]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub(crate) min_spearman: Option<f64>,
    /// Maximum difference between two scores that agree, 0 to 1 [default: the tolerance of the file, else 0.15]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub(crate) tolerance: Option<f64>,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// Find cases that pass without work and graders that decide nothing, without calling agents
///
/// Builds the tests and grades made-up results with the graders of each case: an empty answer, the prompt, a refusal, a list of all expected
/// texts, a call of every tool, the reference, and the reference with one thing broken. Prints the findings with the floor and the ceiling of
/// each suite: only a pass rate between the two says something about the agent. Stores the results in `.evalsuite/probe` of the package;
/// cases that have not changed are not graded again, unless a grader is in Rust. Judges are asked only with `--judge`. Exit status: 0 without
/// findings, 1 with findings, 2 if the tests cannot be built or a suite cannot be probed.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = super::help::examples("probe"))]
pub(crate) struct Probe {
    /// Probe only these suites: their names or directories
    #[arg(value_name = "SUITE")]
    pub(crate) suites: Vec<String>,
    /// Probe only the case with this id; may be repeated
    #[arg(long = "case", value_name = "ID")]
    pub(crate) cases: Vec<String>,
    /// Probe only cases with this tag; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Ask judges about the made-up results, which may cost money
    #[arg(long)]
    pub(crate) judge: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
    #[command(flatten)]
    pub(crate) build: Build,
}
