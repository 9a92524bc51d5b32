//! Commands that show suites and runs.

mod health;
pub(crate) mod list;
pub(crate) mod report;
mod show;

use crate::command_line::Looking;
use crate::platform::cli_error::{Exit, Result};

pub(crate) fn run(command: &Looking) -> Result<Exit> {
    match command {
        Looking::List(command) => list::run(command),
        Looking::Show(command) => show::run(command),
        Looking::Report(command) => report::run(command),
        Looking::Health(command) => health::run(command),
    }
}
