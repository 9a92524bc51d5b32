//! Commands for editors, shells and other programs.

mod completions;
mod expand;
mod lsp;
mod man;
mod schema;

use crate::command_line::Plumbing;
use crate::platform::cli_error::{Exit, Result};

pub(crate) fn run(command: &Plumbing) -> Result<Exit> {
    match command {
        Plumbing::Lsp(_) => lsp::run(),
        Plumbing::Expand(command) => expand::run(command),
        Plumbing::Schema(command) => schema::run(command),
        Plumbing::Completions(command) => completions::run(command),
        Plumbing::Man(command) => man::run(command),
    }
}
