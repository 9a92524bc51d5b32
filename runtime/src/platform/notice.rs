//! Messages on standard error and on the terminal outside of failing tests.

use std::io::{IsTerminal, Write};

use evalsuite_schema::diagnostics::terminal;

use crate::platform::redaction::without_secrets;

/// Prints a line on standard error, bypassing the capture of the test harness, which shows the output of failing tests
/// only. The secrets of all cases of this process are hidden, and characters that affect the terminal replaced.
pub(crate) fn say(line: &str) {
    // If standard error is closed, the line is lost.
    let _ = writeln!(std::io::stderr(), "evalsuite: {}", terminal::lines(&without_secrets(line)));
}

/// Prints a line on standard error, and on the terminal where standard error is captured, as nextest does.
pub(crate) fn say_on_terminal_too(line: &str) {
    say(line);
    if !std::io::stderr().is_terminal() {
        say_on_terminal(line);
    }
}

/// Prints a line on the controlling terminal, if there is one.
#[cfg(unix)]
pub(crate) fn say_on_terminal(line: &str) {
    use std::fs::File;

    use rustix::termios::{LocalModes, tcgetattr};

    let Ok(mut device) = File::options().write(true).open("/dev/tty") else { return };
    // Nextest runs tests as background processes. With this mode, the terminal stops those that write to it.
    if tcgetattr(&device).is_ok_and(|modes| !modes.local_modes.contains(LocalModes::TOSTOP)) {
        // Clears the line first: a progress bar may be on it, which is drawn again below. A terminal that is gone shows nothing.
        let line = terminal::short_line(line);
        let _ = device.write_all(format!("\r\x1b[Kevalsuite: {line}\r\n").as_bytes());
    }
}

/// Prints a line on the controlling terminal, if there is one.
#[cfg(not(unix))]
pub(crate) fn say_on_terminal(_line: &str) {}
