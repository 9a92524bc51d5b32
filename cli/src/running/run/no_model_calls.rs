//! In place of the proxy, in a command that was built without it.

use std::process::Command;

use evalsuite::tooling::SuiteDescription;

use crate::command_line::Run;
use crate::platform::cli_error::{CliError, Result};

pub(super) enum ModelCalls {}

impl ModelCalls {
    pub(super) fn start(command: &Run, _: &[SuiteDescription]) -> Result<Option<Self>> {
        if !(command.record || command.replay) {
            return Ok(None);
        }
        Err(CliError::with_help(
            "this command was built without the feature `record`",
            "`cargo install cargo-evalsuite --features record`",
        ))
    }

    pub(super) fn add_to(&self, _: &mut Command) {
        match *self {}
    }

    pub(super) fn show(&self) {
        match *self {}
    }
}
