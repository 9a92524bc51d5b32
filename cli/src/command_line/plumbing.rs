//! The arguments of commands that editors, shells and other programs use.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Commands that editors, shells and other programs use, in the order of `--help`.
#[derive(Debug, Subcommand)]
pub(crate) enum Plumbing {
    Lsp(Lsp),
    Schema(Schema),
    Completions(Completions),
    Man(Man),
}

/// Run the language server that editors talk to
///
/// Speaks the Language Server Protocol on standard input and output: diagnostics while typing, completion, documentation, definitions, fixes,
/// code lenses and renaming of cases. Exit status: 0 after `shutdown` and `exit`, 1 after `exit` alone, 2 if the input ends or is not of the
/// protocol.
#[derive(Debug, Args)]
#[command(after_help = "Example, which an editor starts:\n  cargo evalsuite lsp")]
pub(crate) struct Lsp {
    /// Ignored: some editors always pass it
    #[arg(long, hide = true)]
    pub(crate) stdio: bool,
}

/// Print the JSON Schema of a kind of file, for editors, or of what is written for other programs
///
/// What a command prints with `--format json` has the schema of its name; `summary` is that of summary.json and of `report --format json`.
/// Exit status: 0 on success, 2 if there is no such kind.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite schema\n  cargo evalsuite schema case > case.schema.json\n  cargo evalsuite schema summary > summary.schema.json"
)]
pub(crate) struct Schema {
    /// Kind of file, such as `eval`, `case` or `summary` [default: list all]
    pub(crate) kind: Option<String>,
}

/// Print completions for a shell
///
/// They complete `cargo-evalsuite`, which takes the same arguments as `cargo evalsuite`. Shells look for them in directories such as
/// `~/.local/share/bash-completion/completions` and `~/.config/fish/completions`. Exit status: 0 on success.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  cargo evalsuite completions bash > cargo-evalsuite.bash\n  \
    cargo evalsuite completions fish > cargo-evalsuite.fish")]
pub(crate) struct Completions {
    /// Shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// Write a man page for every command
///
/// Pages of an earlier version are replaced. Exit status: 0 on success, 2 if a page cannot be written.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cargo evalsuite man ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Directory of the pages, which exists
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}
