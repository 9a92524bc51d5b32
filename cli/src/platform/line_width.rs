//! How many columns a line of output has.

use std::io;
use std::io::IsTerminal;

use crossterm::terminal;
use evalsuite_records::summary::TextTable;

/// The width of the terminal, or that of files and pipes.
pub(crate) fn of_output() -> usize {
    if !io::stdout().is_terminal() {
        return TextTable::USUAL_WIDTH;
    }
    match terminal::size() {
        // A terminal that does not know its size says 0.
        Ok((columns @ 1.., _)) => columns.into(),
        _ => TextTable::USUAL_WIDTH,
    }
}
