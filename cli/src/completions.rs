//! `cargo evalsuite completions`.

use std::io::Write;

use clap::Args;

use crate::platform::exit_status::{CommandStatus, Result};
use crate::platform::output::stdout;

/// Print the completions for a shell
///
/// They complete `cargo-evalsuite`, which takes the same arguments as `cargo evalsuite`. Shells load them from directories such as
/// `~/.local/share/bash-completion/completions` and `~/.config/fish/completions`. Exit status: 0 on success.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// Prints what a shell loads for `program`.
pub(crate) fn run(command: &Completions, mut program: clap::Command) -> Result<CommandStatus> {
    let mut script = Vec::new();
    // Shells complete programs by their names, which have no space.
    clap_complete::generate(command.shell, &mut program, "cargo-evalsuite", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if command.shell == clap_complete::Shell::Bash {
        // The script sets one name for the commands of a program with a hyphen, and looks for the other one (clap_complete 4.6).
        script = script.replace("cargo__subcmd__evalsuite", "cargo__evalsuite");
    }
    stdout().write_all(script.as_bytes())?;
    Ok(CommandStatus::Good)
}
