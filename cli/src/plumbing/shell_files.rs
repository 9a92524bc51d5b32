//! What shells and `man` load: `cargo evalsuite completions` and `cargo evalsuite man`.

use std::io::{self, Write};

use clap::CommandFactory;

use crate::command_line::{CommandLine, Completions, Man};
use crate::platform::cli_error::{Exit, Result};
use crate::platform::output::stdout;

pub(crate) fn print_completions(command: &Completions) -> Result<Exit> {
    let mut script = Vec::new();
    // Shells complete programs by their names, which have no space.
    clap_complete::generate(command.shell, &mut CommandLine::command(), "cargo-evalsuite", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if command.shell == clap_complete::Shell::Bash {
        // The script sets one name for the commands of a program with a hyphen, and looks for the other one (clap_complete 4.6).
        script = script.replace("cargo__subcmd__evalsuite", "cargo__evalsuite");
    }
    stdout().write_all(script.as_bytes())?;
    Ok(Exit::Good)
}

pub(crate) fn write_man_pages(command: &Man) -> Result<Exit> {
    // `man cargo-evalsuite-check` finds pages by names without spaces.
    let program = CommandLine::command().name("cargo-evalsuite").display_name("cargo-evalsuite");
    clap_mangen::generate_to(program, &command.directory)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", command.directory.display())))?;
    Ok(Exit::Good)
}
