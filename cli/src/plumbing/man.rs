//! `cargo evalsuite man`.

use std::io;

use clap::CommandFactory;

use crate::command_line::{CommandLine, Man};
use crate::platform::cli_error::{Exit, Result};

pub(crate) fn run(command: &Man) -> Result<Exit> {
    // `man cargo-evalsuite-check` finds pages by names without spaces.
    let program = CommandLine::command().name("cargo-evalsuite").display_name("cargo-evalsuite");
    clap_mangen::generate_to(program, &command.directory)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", command.directory.display())))?;
    Ok(Exit::Good)
}
