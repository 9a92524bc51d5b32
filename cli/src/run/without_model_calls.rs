//! In place of the proxy, in a command that was built without it.

use std::process::Command;

use evalsuite::tooling::SuiteDescription;

use crate::platform::exit_status::{CliError, Result};
use crate::run::Run;

pub(super) enum ModelCalls {}

/// Before anything is built.
pub(super) fn refuse(command: &Run) -> Result<()> {
    if command.record || command.replay { Err(CliError::without_feature("record")) } else { Ok(()) }
}

impl ModelCalls {
    #[allow(clippy::unnecessary_wraps, reason = "the same signature as with the feature")]
    pub(super) fn start(_: &Run, _: &[SuiteDescription]) -> Result<Option<Self>> {
        Ok(None)
    }

    pub(super) fn add_to(&self, _: &mut Command) {
        match *self {}
    }

    pub(super) fn show(&self) {
        match *self {}
    }
}
