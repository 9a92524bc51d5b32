//! The arguments of commands that compare runs and keep their results as baselines.

use clap::{Args, ValueEnum};

use super::{OutputFormat, share};

/// Compare a run with an earlier run or with the baseline
///
/// Compares the cases that have the same input, graders and threshold in both runs. Prints for each suite and target the pass rates, the
/// mean difference of the scores with its 95% interval, the p-value of a permutation test, the noise (the range of differences that chance
/// causes in 95 of 100 comparisons), and the cases that changed. If several suites and targets are compared, the p-value of each has to be
/// smaller; the p-values of slices are corrected for their number (Holm). Exit status: 0 without a regression, 1 with a regression, 2 if a run does not exist or cannot be
/// compared, 4 if fewer than six cases can be compared, more than a tenth of them have no result, or the verdict depends on trials
/// that ended in an error.
///
/// With --judge, a judge compares the two recorded answers of each case. It is asked twice, with the answers in both orders. An answer
/// wins if it is better both times; otherwise the case is a tie. A win rate significantly below one half is a regression. If the order
/// changes the judgement in half of the cases, or if more than a tenth of the cases have no judgement, the judge decides nothing. The
/// judge is the command NAME of targets.yaml; without NAME, the judge of the EVALSUITE_JUDGE_* variables, else the command that all judge
/// graders of RUN asked. With --baseline, the answers written by `accept --answers` are compared with those of the run. The cost of the judge is
/// printed, and is not limited by a budget. --judge requires the feature `judge`.
#[derive(Debug, Args)]
#[command(after_help = super::help::examples("diff"))]
pub(crate) struct Diff {
    /// Earlier run: its id or directory [default: the newest run of the merge base with the default branch, else the newest run before
    /// RUN that is not of the same commit, with a case in common]. Without names, all runs of a commit are counted together
    pub(crate) base: Option<String>,
    /// Run: its id or directory [default: the newest]
    pub(crate) run: Option<String>,
    /// Compare with the baseline that `accept` wrote; a single run argument is then RUN
    #[arg(long, conflicts_with = "run")]
    pub(crate) baseline: bool,
    /// Compare the cases of target A in the earlier run with those of target B in the run; without runs, both in the newest run
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with = "baseline")]
    pub(crate) targets: Vec<String>,
    /// Ask a judge which answers are better; NAME is a command of targets.yaml [default: the judge of EVALSUITE_JUDGE_*, else that of
    /// the run]
    #[arg(long, value_name = "NAME", num_args = 0..=1)]
    pub(crate) judge: Option<Option<String>>,
    /// Criteria by which the judge compares answers [default: the criteria of each case]
    #[arg(long, value_name = "TEXT", requires = "judge")]
    pub(crate) criteria: Option<String>,
    #[command(flatten)]
    pub(crate) comparison: ComparisonArguments,
    /// Output format
    #[arg(long, value_enum, default_value_t = DiffFormat::Human)]
    pub(crate) format: DiffFormat,
}

/// What `diff` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// Text and tables
    #[value(alias = "text")]
    Human,
    /// Markdown, for pull requests and summaries of CI jobs
    Markdown,
    /// One JSON object; `cargo evalsuite schema diff` prints its schema
    Json,
}

/// Check a run against thresholds
///
/// Checks the `gates` in the files of the run's suites, and those of `--require`.
///
/// A gate is `[KEY:VALUE …] MEASURE OP NUMBER [per KEY]`. Measures: `pass_rate`, `lower(pass_rate)` (the lower bound of its 95%
/// interval), `score`, `cost`, `time`, `p50(time)`, `p95(time)`. Keys: `suite`, `target`, `bucket`, `tag`, `metadata.KEY`. Exit
/// status: 0 if all gates are met, 1 if one is missed or the run has a regression, 2 if a run does not exist or a gate is invalid, 4 if a
/// gate cannot be decided: no cases, missing or torn results, or too few cases to compare.
#[derive(Debug, Args)]
#[command(after_help = super::help::examples("gate"))]
pub(crate) struct Gate {
    /// Run: its id, its directory, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Further gate to check; may be repeated
    #[arg(long = "require", value_name = "GATE")]
    pub(crate) gates: Vec<String>,
    /// Only check the cases that ran: cases without a result were not selected, and are not missing
    #[arg(long)]
    pub(crate) selected: bool,
    /// Also compare with the baseline that `accept` wrote; a regression counts as a missed gate
    #[arg(long, conflicts_with = "base")]
    pub(crate) baseline: bool,
    /// Also compare with an earlier run: its id or directory; a regression counts as a missed gate
    #[arg(long, value_name = "RUN")]
    pub(crate) base: Option<String>,
    #[command(flatten)]
    pub(crate) comparison: ComparisonArguments,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// How runs are compared.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Comparison")]
pub(crate) struct ComparisonArguments {
    /// Metadata key of dependent cases: cases with the same value are not treated as independent
    #[arg(long, value_name = "KEY")]
    pub(crate) cluster_by: Option<String>,
    /// Also compare each value of this key separately: `bucket`, `tag` or `metadata.KEY`; may be repeated
    #[arg(long, value_name = "KEY")]
    pub(crate) by: Vec<String>,
    /// Largest acceptable loss of the mean score, such as `10%` or `0.1`: the comparison succeeds only if the loss is shown to be smaller
    #[arg(long, value_name = "M", value_parser = share)]
    pub(crate) margin: Option<f64>,
    /// Maximum number of cases per suite that have a result in the earlier run and end in an error in this run, for errors to be ignored;
    /// with more, the comparison is decided only if the verdict is the same whether the trials in error failed or passed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) allow_errors: usize,
    /// What counts as one observation: `trial`, if the trials of a case within one run are independent; `case`, if they resemble each
    /// other (a response cache, one seed per run). By default, trials do unless the results show that they resemble each other
    #[arg(long, value_enum, value_name = "UNIT")]
    pub(crate) unit: Option<UnitOfComparison>,
}

/// What counts as one observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnitOfComparison {
    Trial,
    Case,
}

/// Accept the results of a run as the baseline of its suites
///
/// Writes one file per suite to `.evalsuite/baselines` of its package, to be committed. Its tests hold a case to the trials of all accepted
/// runs since it last changed; `diff --baseline` compares scores with those of the run that was accepted last. A case that differs from
/// its baseline by more than chance has changed, and only the trials of the run count from then on; so does a case of `--force`. Prints
/// what changed and what was kept, and how often an agent that has not changed will fail. Exit status: 0 on success, also if results were
/// kept; 2 if the run does not exist, is still running or has no cases, or a file cannot be written.
#[derive(Debug, Args)]
#[command(after_help = super::help::examples("accept"))]
pub(crate) struct Accept {
    /// Run: its id, its directory, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Replace all earlier results of this case by those of the run; may be repeated
    #[arg(long = "force", value_name = "CASE")]
    pub(crate) forced: Vec<String>,
    /// Also write the answers of passed trials, for `diff --baseline --judge`; existing answers are updated without this flag
    #[arg(long)]
    pub(crate) answers: bool,
}
