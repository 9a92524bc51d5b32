//! Commands that compare runs, check them against gates, and keep their results as baselines.

mod accept;
pub(crate) mod diff;
pub(crate) mod gate;

use crate::command_line::Comparing;
use crate::platform::cli_error::{Exit, Result};

pub(crate) fn run(command: &Comparing) -> Result<Exit> {
    match command {
        Comparing::Diff(command) => diff::run(command),
        Comparing::Gate(command) => gate::run(command),
        Comparing::Accept(command) => accept::run(command),
    }
}
