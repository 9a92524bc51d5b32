//! The arguments of commands that write what belongs to an installation.

use std::path::PathBuf;

use clap::Args;

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
