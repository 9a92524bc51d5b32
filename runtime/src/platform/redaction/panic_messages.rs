//! Panic messages of agents and graders on the terminal, without secrets.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::sync::Once;
use std::thread;

use crate::platform::isolated_call::panic_message;
use crate::platform::redaction::without_secrets;

/// From now on, a panic whose message contains a secret is shown without it. Any other panic is shown as before.
pub(crate) fn hide_secrets() {
    static HOOK: Once = Once::new();
    // A thread that panics cannot change the hook; the next case will.
    if thread::panicking() {
        return;
    }
    HOOK.call_once(|| {
        let show = take_hook();
        set_hook(Box::new(move |panic| {
            let message = panic_message(panic.payload());
            let shown = without_secrets(&message);
            if shown == message { show(panic) } else { eprintln!("{}", without_message(panic, &shown)) }
        }));
    });
}

/// What the standard library shows of a panic, with another message.
fn without_message(panic: &PanicHookInfo<'_>, message: &str) -> String {
    let current = thread::current();
    let place = panic.location().map(|place| format!(" at {place}")).unwrap_or_default();
    let backtrace = Backtrace::capture();
    let calls = match backtrace.status() {
        BacktraceStatus::Captured => format!("\nstack backtrace:\n{backtrace}"),
        _ => String::new(),
    };
    format!("\nthread '{}' panicked{place}:\n{message}{calls}", current.name().unwrap_or("<unnamed>"))
}
