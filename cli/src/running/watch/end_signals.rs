//! Signals that ask `watch` to end, with the compilers and tests that it has started.

use std::io;
use std::sync::mpsc::Sender;

use super::event::Event;

/// Sends such signals as events.
#[cfg(unix)]
pub(super) fn forward(events: Sender<Event>) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            // The receiver is gone when the program ends.
            let _ = events.send(Event::EndSignal(signal));
        }
    });
    Ok(())
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "the same signature as with signals")]
pub(super) fn forward(_: Sender<Event>) -> io::Result<()> {
    Ok(())
}

/// Ends this process as the signal would have ended it.
#[cfg(unix)]
pub(super) fn end_by(signal: i32) -> io::Result<()> {
    signal_hook::low_level::emulate_default_handler(signal)
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "the same signature as with signals")]
pub(super) fn end_by(_: i32) -> io::Result<()> {
    Ok(())
}
