//! Messages on standard error outside of failing tests.

use std::io::{IsTerminal, Write};

use crate::platform::terminal;

use crate::platform::redaction::without_secrets;

/// Prints a line on standard error, bypassing the capture of the test harness, which shows the output of failing tests
/// only. The secrets of all cases of this process are hidden.
pub(crate) fn say(line: &str) {
    // If standard error is closed, the line is lost.
    let _ = writeln!(std::io::stderr(), "evalsuite: {}", without_secrets(line));
}

/// Prints a line on standard error, and on the terminal where standard error is captured, as nextest does.
pub(crate) fn say_on_terminal_too(line: &str) {
    say(line);
    if !std::io::stderr().is_terminal() {
        terminal::say(line);
    }
}
