//! Signals that ask the proxy to end, as clients send them. They are passed on to the server.

use std::sync::mpsc::Sender;

use super::server_process::Event;

/// Reports signals until the process ends.
#[cfg(unix)]
pub(super) fn report(events: Sender<Event>) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    std::thread::Builder::new().spawn(move || {
        for _ in signals.forever() {
            if events.send(Event::AskedToEnd).is_err() {
                break;
            }
        }
    })?;
    Ok(())
}

/// On Windows, a client ends the process.
#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "the same signature as on Unix")]
pub(super) fn report(_: Sender<Event>) -> std::io::Result<()> {
    Ok(())
}
