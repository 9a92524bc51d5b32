//! Messages on standard error that belong to no failing test.

use std::io::Write;

use crate::platform::redaction::without_secrets;

/// Prints a line on standard error, bypassing the capture of the test harness, which shows the output of failing tests
/// only. The secrets of all cases of this process are hidden.
pub(crate) fn say(line: &str) {
    // If standard error is closed, the line is lost.
    let _ = writeln!(std::io::stderr(), "evalsuite: {}", without_secrets(line));
}
