//! The arguments of commands that read and write suites.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{New, OutputFormat};

/// Commands for those who write suites, in the order of `--help`.
#[derive(Debug, Subcommand)]
pub(crate) enum Writing {
    New(New),
    Check(Check),
    Expand(Expand),
    Explain(Explain),
    Convert(Convert),
}

/// Check suites as the compiler does, without compiling
///
/// Prints every problem of every file; one that many places share is printed once with their number. Inside a package, the arguments
/// of `include_eval_suite!` and `evalsuite_build::generate` in its sources are used, and calls whose arguments are not literal are
/// named. Exit status: 0 if there are no problems, 1 if there are, 2 if there is no suite or a file cannot be written.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite check\n  cargo evalsuite check suites/shop --deny-warnings\n  cargo evalsuite check suites/shop/cases/refund-large\n  cargo evalsuite check --fix\n  cargo evalsuite check --format sarif > evals.sarif"
)]
pub(crate) struct Check {
    /// Suites, cases, or directories to search for suites [default: the case in the current directory, or the suites of its package or
    /// workspace]
    pub(crate) paths: Vec<PathBuf>,
    /// Format of the problems
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,
    /// Exit with status 1 on warnings too
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    /// Change the files where one answer is certain: a name that is one edit away, an old name of a key, a number that is meant as text
    #[arg(long)]
    pub(crate) fix: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text with the lines of the files
    #[value(alias = "text")]
    Human,
    /// One line per place, `FILE:LINE:COLUMN: error[E019]: MESSAGE`, for editors
    Short,
    /// One JSON object per line
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// GitHub Actions annotations, at most ten of each kind
    Github,
}

/// Print the code that a suite expands to
///
/// Exit status: 0 on success, 1 if the suite has errors.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite expand suites/shop\n  cargo evalsuite expand suites/shop --agent none"
)]
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
    /// What is printed: the code, or an object with the code
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// Explain a diagnostic: what it means, why it is reported, an example, and how to fix it
///
/// Exit status: 0 on success, 2 if there is no such diagnostic.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite explain E019\n  cargo evalsuite explain unknown-key\n  cargo evalsuite explain"
)]
pub(crate) struct Explain {
    /// Code or name, such as `E019` or `unknown-key` [default: list all]
    pub(crate) diagnostic: Option<String>,
}

/// Convert a suite to another layout, or a promptfoo configuration or Harbor tasks to a suite
///
/// Prints what became of every entry of the source: mapped, approximated with the reason, or dropped with the reason. Comments of YAML files
/// are kept. A suite that is converted to another layout stays where it is, unless DIR is given. Programs of the source are not run.
/// Exit status: 0 on success, 1 if an entry was dropped, unless `--lossy`, or the new suite has errors, 2 if the source cannot be read or a
/// file would be overwritten.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite convert promptfooconfig.yaml suites/riddles\n  cargo evalsuite convert tasks/hello-world suites/hello --lossy\n  cargo evalsuite convert suites/shop --layout directories --force\n  cargo evalsuite convert suites/shop suites/shop_tasks --layout tasks\n  cargo evalsuite convert promptfooconfig.yaml suites/words --layout tasks"
)]
pub(crate) struct Convert {
    /// Suite, promptfoo configuration, Harbor task or directory of Harbor tasks
    pub(crate) source: PathBuf,
    /// Directory of the new suite
    #[arg(value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// What the source is [default: what it looks like]
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) from: Option<SourceKind>,
    /// Where the suite has its cases [default: file, unless the source is a suite]
    #[arg(long, value_enum)]
    pub(crate) layout: Option<CaseLayout>,
    /// Copy files of this directory, too, which is outside of the directory of the source (repeatable)
    #[arg(long, value_name = "DIR")]
    pub(crate) allow_outside: Vec<PathBuf>,
    /// Overwrite and remove files
    #[arg(long)]
    pub(crate) force: bool,
    /// Exit with status 0 even if something was dropped
    #[arg(long)]
    pub(crate) lossy: bool,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SourceKind {
    /// A suite of evalsuite
    Suite,
    /// A promptfoo configuration
    Promptfoo,
    /// A Harbor task, or a directory of them
    Harbor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CaseLayout {
    /// All cases in EVAL.yaml
    File,
    /// Each case in cases/ID/case.yaml
    Directories,
    /// suite.json, and each case in tasks/ID.json
    Tasks,
}
