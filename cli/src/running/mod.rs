//! Commands that run cases, or grade what ran before.

mod calibrate;
mod probe;
pub(crate) mod regrade;
pub(crate) mod run;
mod watch;

use crate::command_line::Running;
use crate::platform::cli_error::{Exit, Result};

pub(crate) fn run(command: &Running) -> Result<Exit> {
    match command {
        Running::Run(command) => run::run(command),
        Running::Watch(command) => watch::run(command),
        Running::Regrade(command) => regrade::run(command),
        Running::Calibrate(command) => calibrate::run(command),
        Running::Probe(command) => probe::run(command),
    }
}
