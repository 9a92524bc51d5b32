//! Lines for people that belong to no failing test.

use std::io::Write;

/// Says something on standard error, past the capture of the test harness: it shows the output of failing tests only,
/// and this goes to the terminal of every run.
pub(crate) fn say(line: &str) {
    // Where standard error is closed there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "evalsuite: {line}");
}
