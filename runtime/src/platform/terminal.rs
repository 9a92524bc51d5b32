//! Lines on the terminal of a test whose output the test runner captures.

/// Prints a line on the controlling terminal, if there is one.
#[cfg(unix)]
pub(crate) fn say(line: &str) {
    use std::fs::File;
    use std::io::Write;

    use rustix::termios::{LocalModes, tcgetattr};

    let Ok(mut terminal) = File::options().write(true).open("/dev/tty") else { return };
    // Nextest runs tests as background processes. With this mode, the terminal stops those that write to it.
    if tcgetattr(&terminal).is_ok_and(|modes| !modes.local_modes.contains(LocalModes::TOSTOP)) {
        // Clears the line first: a progress bar may be on it, which is drawn again below. A terminal that is gone shows nothing.
        let _ = terminal.write_all(format!("\r\x1b[Kevalsuite: {line}\r\n").as_bytes());
    }
}

/// Prints a line on the controlling terminal, if there is one.
#[cfg(not(unix))]
pub(crate) fn say(_line: &str) {}
