//! `cargo evalsuite completions`.

use std::io;
use std::io::Write;
use std::process::ExitCode;

use clap::CommandFactory;

use crate::command_line::{CommandLine, Completions};

pub(crate) fn run(command: &Completions) -> io::Result<ExitCode> {
    let mut script = Vec::new();
    // Shells complete programs by their names, which have no space.
    clap_complete::generate(command.shell, &mut CommandLine::command(), "cargo-evalsuite", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
