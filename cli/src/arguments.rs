//! What the arguments of several commands share: output formats, and the options of builds and of comparisons.

use clap::{Args, ValueEnum};

/// The examples of all commands: a line with `#` and the name of a command, then what the end of its help shows, then an empty line.
const EXAMPLES: &str = include_str!("../assets/examples.txt");

/// The examples of a command, named with the command that it is a part of.
pub(crate) fn examples(command: &str) -> &'static str {
    let (_, rest) = EXAMPLES.split_once(&format!("# {}\n", command.replace('_', "-"))).unwrap_or_default();
    rest.split("\n\n").next().unwrap_or_default().trim_end()
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Text and tables
    #[default]
    #[value(alias = "text")]
    Human,
    /// One JSON object; `cargo evalsuite schema` prints its schema
    Json,
}

/// A share: `10%` or `0.1`.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse().map(|percent: f64| percent / 100.0),
        None => text.parse(),
    };
    let is_share = |share: &f64| (0.0..=1.0).contains(share);
    share.ok().filter(is_share).ok_or_else(|| "expected a share from 0 to 1, such as `10%` or `0.1`".to_owned())
}

/// A share above 0.
pub(crate) fn margin(text: &str) -> Result<f64, String> {
    match share(text)? {
        share if share > 0.0 => Ok(share),
        _ => Err("expected a share above 0, such as `10%` or `0.1`".to_owned()),
    }
}

pub(crate) fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "expected a number greater than 0".to_owned())
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
    /// Ignore errors if at most N cases per suite have a result in the earlier run and end in an error in this run; with more, the
    /// comparison is decided only if the verdict does not depend on the trials in error
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) allow_errors: usize,
    /// What counts as one observation: `trial`, if the trials of a case within one run are independent; `case`, if they are correlated
    /// (a response cache, one seed per run) [default: `trial`, unless the results show a correlation]
    #[arg(long, value_enum, value_name = "UNIT")]
    pub(crate) unit: Option<UnitOfComparison>,
}

/// What counts as one observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnitOfComparison {
    Trial,
    Case,
}
