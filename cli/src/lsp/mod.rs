//! `cargo evalsuite lsp`: the language server for editors.

mod actions;
mod case_run;
mod definition;
mod diagnostics;
mod documents;
mod key_help;
mod key_types;
mod lens;
mod messages;
mod positions;
mod server;
mod session;
mod syntax;
mod workspace;

use clap::Args;

use crate::platform::exit_status::{CommandStatus, Result};

/// Run the language server for editors
///
/// Uses the Language Server Protocol on standard input and output: diagnostics while you type, completion, documentation, definitions,
/// fixes, code lenses, and renaming of cases. Requires the feature `lsp`. Exit status: 0 after `shutdown` and `exit`, 1 after `exit` alone, 2
/// if the input ends or is not valid.
#[derive(Debug, Args)]
pub(crate) struct Lsp {
    /// Ignored; some editors always pass it
    #[arg(long, hide = true)]
    pub(crate) stdio: bool,
}

pub(crate) fn run(_: &Lsp) -> Result<CommandStatus> {
    server::run()
}
