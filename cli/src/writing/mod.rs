//! Commands that write and check suites.

pub(crate) mod check;
pub(crate) mod convert;
mod explain;
pub(crate) mod fixes;
mod new;
pub(crate) mod saved_cases;

use crate::command_line::Writing;
use crate::platform::cli_error::{Exit, Result};

pub(crate) fn run(command: &Writing) -> Result<Exit> {
    match command {
        Writing::New(command) => new::run(command),
        Writing::Check(command) => check::run(command),
        Writing::Explain(command) => explain::run(command),
        Writing::Convert(command) => convert::run(command),
    }
}
