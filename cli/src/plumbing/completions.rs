//! `cargo evalsuite completions`.

use std::io::Write;

use clap::CommandFactory;

use crate::command_line::{CommandLine, Completions};
use crate::platform::cli_error::{Exit, Result};
use crate::platform::output::stdout;

pub(crate) fn run(command: &Completions) -> Result<Exit> {
    let mut script = Vec::new();
    // Shells complete programs by their names, which have no space.
    clap_complete::generate(command.shell, &mut CommandLine::command(), "cargo-evalsuite", &mut script);
    stdout().write_all(&script)?;
    Ok(Exit::Good)
}
