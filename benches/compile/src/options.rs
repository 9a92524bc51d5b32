//! The command line.

use std::num::NonZeroUsize;
use std::time::Duration;

use clap::Parser;

use crate::layout::Layout;

/// Builds packages with generated cases, one per competitor and number of cases, and compares how long the builds take.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Options {
    /// Numbers of cases; the cost per case is relative to the smallest
    #[arg(long, value_delimiter = ',', default_value = "100,1000,5000,20000")]
    cases: Vec<NonZeroUsize>,

    /// Timed rounds; each round builds every package once
    #[arg(long, default_value = "5")]
    pub(crate) runs: NonZeroUsize,

    /// Only these competitors (see the README for their names)
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub(crate) only: Vec<String>,

    /// Layout of the cases on disk
    #[arg(long, value_enum, default_value_t = Layout::Cases)]
    pub(crate) layout: Layout,

    /// Times a single test in its own process instead of builds
    #[arg(long)]
    pub(crate) startup: bool,

    /// Times runs of all tests, in one process and with nextest, instead of builds
    #[arg(long, conflicts_with = "startup")]
    pub(crate) whole_runs: bool,

    /// Times what follows the edit of a case, in both layouts: the language server, and `cargo evalsuite watch`
    #[arg(long, conflicts_with_all = ["startup", "whole_runs"])]
    pub(crate) editing: bool,

    /// Measures sizes of a test program and counts instructions, and compares them with those in held.json (Linux, valgrind)
    #[arg(long, conflicts_with_all = ["startup", "whole_runs", "editing", "json"])]
    pub(crate) held: bool,

    /// Writes the measured figures to held.json
    #[arg(long, requires = "held")]
    pub(crate) update: bool,

    /// Time limit of a build; a build that exceeds it is reported and not repeated
    #[arg(long, value_name = "SECONDS", default_value = "600")]
    timeout: u64,

    /// Keeps the packages and their build artifacts in the target directory
    #[arg(long)]
    pub(crate) keep: bool,

    /// Prints every sample as one JSON object instead of tables
    #[arg(long)]
    pub(crate) json: bool,
}

impl Options {
    /// Numbers of cases, ascending, each once.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = self.cases.iter().map(|size| size.get()).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// The time limit of a build.
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::Options;

    #[test]
    fn sizes_are_sorted_and_unique() {
        let options = Options::parse_from(["bench", "--cases", "2000,100,2000"]);
        assert_eq!(options.sizes(), [100, 2000]);
    }

    #[test]
    fn zero_cases_and_zero_runs_are_rejected() {
        assert!(Options::try_parse_from(["bench", "--cases", "0"]).is_err());
        assert!(Options::try_parse_from(["bench", "--runs", "0"]).is_err());
    }
}
