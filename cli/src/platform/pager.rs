//! Long texts on a terminal: shown by the user's pager.

use std::io::{IsTerminal, Write};
use std::process::{Child, Command, Stdio};
use std::{env, io};

use evalsuite_schema::diagnostics::terminal;

use crate::platform::exit_status::{CommandStatus, Result};
use crate::platform::output::{stdout, without_reader};

/// The pager without `PAGER`.
const DEFAULT: &str = "less";

/// What `less` does unless `LESS` says it: a text that fits on the screen is only printed, and stays there.
const LESS: &str = "FRX";

/// Prints lines without what could disturb a terminal, through `PAGER` if the output is a terminal. An empty `PAGER` is none.
pub(crate) fn print(text: &str) -> Result<CommandStatus> {
    let text: String = text.lines().map(|line| terminal::lines(line).trim_end().to_owned() + "\n").collect();
    let Some(mut pager) = start() else {
        stdout().write_all(text.as_bytes())?;
        return Ok(CommandStatus::Good);
    };
    if let Some(mut input) = pager.stdin.take() {
        // The reader may leave before the end.
        input.write_all(text.as_bytes()).or_else(|error| without_reader(error, ()))?;
    }
    pager.wait()?;
    Ok(CommandStatus::Good)
}

/// The pager; `None` where there is none, or it does not start.
fn start() -> Option<Child> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let pager = env::var("PAGER").unwrap_or_else(|_| DEFAULT.to_owned());
    let mut words = pager.split_whitespace();
    let mut command = Command::new(words.next()?);
    if env::var_os("LESS").is_none() {
        command.env("LESS", LESS);
    }
    command.args(words).stdin(Stdio::piped()).spawn().ok()
}
