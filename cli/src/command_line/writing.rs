//! The arguments of commands that read and write suites.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::OutputFormat;

/// Check suites without compiling them
///
/// Reports the problems that the compiler would report, in all files; a problem with several places is printed once. In a package, the
/// arguments of `include_eval_suite!` and `evalsuite_build::generate` are read from its sources; calls with other arguments than literals
/// are listed. Exit status: 0 if there are no problems, 1 if there are, 2 if a path does not exist, no suite was found or a file cannot be
/// written.
#[derive(Debug, Args)]
#[command(after_help = super::help::examples("check"))]
pub(crate) struct Check {
    /// Suites, cases, or directories to search for suites [default: the case in the current directory, or the suites of its package or
    /// workspace]
    pub(crate) paths: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,
    /// Also exit with status 1 if there are warnings
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    /// Apply the fixes that are safe: a misspelled name with one similar name, the old name of a key, a number where text is expected
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

/// Explain a diagnostic: its meaning, an example and the fix
///
/// Exit status: 0 on success, 2 if there is no such diagnostic.
#[derive(Debug, Args)]
#[command(after_help = super::help::examples("explain"))]
pub(crate) struct Explain {
    /// Code or name, such as `E019` or `unknown-key` [default: list all]
    pub(crate) diagnostic: Option<String>,
}

/// Convert a promptfoo configuration or Harbor tasks to a suite
///
/// Reports whether each entry of the source is mapped, approximated, different or dropped, and why. Comments in YAML files are kept.
/// Programs of the source are not run. Requires the feature `convert`. Exit status: 0 on success, 1 if the new suite has errors or an
/// entry was dropped without `--lossy`, 2 if the source cannot be read or a file would be overwritten.
#[derive(Debug, Args)]
#[command(after_help = super::help::examples("convert"))]
pub(crate) struct Convert {
    /// Promptfoo configuration, Harbor task, or directory of Harbor tasks
    pub(crate) source: PathBuf,
    /// Directory of the new suite
    #[arg(value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Kind of the source [default: detected]
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) from: Option<SourceKind>,
    /// Layout of the new suite
    #[arg(long, value_enum, default_value_t = CaseLayout::File)]
    pub(crate) layout: CaseLayout,
    /// Also copy files from this directory outside of the source; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) allow_outside: Vec<PathBuf>,
    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,
    /// Exit with status 0 even if an entry was dropped
    #[arg(long)]
    pub(crate) lossy: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SourceKind {
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
