//! `cargo evalsuite man`.

use std::io;
use std::process::ExitCode;

use clap::CommandFactory;

use crate::command_line::{CommandLine, Man};

pub(crate) fn run(command: &Man) -> io::Result<ExitCode> {
    // `man cargo-evalsuite-check` finds pages by names without spaces.
    let program = CommandLine::command().name("cargo-evalsuite").display_name("cargo-evalsuite");
    clap_mangen::generate_to(program, &command.directory)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", command.directory.display())))?;
    Ok(ExitCode::SUCCESS)
}
