//! The arguments of commands for editors, shells and other programs.

use std::path::PathBuf;

use clap::Args;

use super::OutputFormat;

/// Run the language server for editors
///
/// Uses the Language Server Protocol on standard input and output: diagnostics while you type, completion, documentation, definitions,
/// fixes, code lenses, and renaming of cases. Requires the feature `lsp`. Exit status: 0 after `shutdown` and `exit`, 1 after `exit` alone, 2 if the input ends or is
/// not valid.
#[derive(Debug, Args)]
#[command(after_help = super::help::examples("lsp"))]
pub(crate) struct Lsp {
    /// Ignored; some editors always pass it
    #[arg(long, hide = true)]
    pub(crate) stdio: bool,
}

/// Print the Rust code that a suite expands to
///
/// Exit status: 0 on success, 1 if the suite has errors, 2 if the path does not exist.
#[derive(Debug, Args)]
#[command(after_help = super::help::examples("expand"))]
pub(crate) struct Expand {
    /// Directory or file of the suite
    pub(crate) path: PathBuf,
    /// Agent as in the macro: a path, or `none`
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// Grader as in the macro: a path, or `name => path`; may be repeated
    #[arg(long = "grader", value_name = "PATH")]
    pub(crate) graders: Vec<String>,
    /// Name of the generated module
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Output format: the code, or a JSON object with the code
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// Print the JSON Schema of a file of a suite, or of the output of a command
///
/// The output of a command with `--format json` has the schema with its name; `summary` is the schema of summary.json and of `report
/// --format json`. Exit status: 0 on success, 2 if the kind does not exist.
#[derive(Debug, Args)]
#[command(after_help = super::help::examples("schema"))]
pub(crate) struct Schema {
    /// Kind of file, such as `eval`, `case` or `summary` [default: list all]
    pub(crate) kind: Option<String>,
}

/// Print the completions for a shell
///
/// They complete `cargo-evalsuite`, which takes the same arguments as `cargo evalsuite`. Shells load them from directories such as
/// `~/.local/share/bash-completion/completions` and `~/.config/fish/completions`. Exit status: 0 on success.
#[derive(Debug, Args)]
#[command(after_help = super::help::examples("completions"))]
pub(crate) struct Completions {
    /// Shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// Write the man pages of all commands
///
/// Existing pages are replaced. Exit status: 0 on success, 2 if a page cannot be written.
#[derive(Debug, Args)]
#[command(after_help = super::help::examples("man"))]
pub(crate) struct Man {
    /// Existing directory for the pages
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}
