//! `cargo evalsuite man`.

use std::io;
use std::path::PathBuf;

use clap::Args;

use crate::platform::exit_status::{CommandStatus, Result};

/// Write the man pages of all commands
///
/// Existing pages are replaced. Exit status: 0 on success, 2 if a page cannot be written.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Existing directory for the pages
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}

/// Writes the pages of `program`.
pub(crate) fn run(command: &Man, program: clap::Command) -> Result<CommandStatus> {
    // `man cargo-evalsuite-check` finds pages by names without spaces.
    let program = program.name("cargo-evalsuite").display_name("cargo-evalsuite");
    clap_mangen::generate_to(program, &command.directory)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", command.directory.display())))?;
    Ok(CommandStatus::Good)
}
