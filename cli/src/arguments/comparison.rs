//! The options that say how runs are compared.

use clap::{Args, ValueEnum};

use super::share;

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
