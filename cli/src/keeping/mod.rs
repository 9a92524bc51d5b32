//! Commands that complete, merge and remove stored runs.

pub(crate) mod clean;
pub(crate) mod finish;
pub(crate) mod merge;

use crate::command_line::Keeping;
use crate::platform::cli_error::{Exit, Result};

pub(crate) fn run(command: &Keeping) -> Result<Exit> {
    match command {
        Keeping::Finish(command) => finish::run(command),
        Keeping::Merge(command) => merge::run(command),
        Keeping::Clean(command) => clean::run(command),
    }
}
