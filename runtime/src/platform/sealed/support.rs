//! What the kernel can refuse to a sealed command, measured once per process.

use std::sync::OnceLock;

use crate::platform::sealed::{enforcement, socket_filter};

/// What the kernel offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SealSupport {
    /// Version of Landlock, from 1; else why there is none.
    pub(crate) landlock: Result<u32, String>,
    /// Whether a filter can refuse sockets.
    pub(crate) socket_filter: bool,
}

impl SealSupport {
    /// No support, for this reason.
    pub(crate) fn none(reason: impl Into<String>) -> Self {
        Self { landlock: Err(reason.into()), socket_filter: false }
    }

    /// What this system offers. A thread that ends tries it: support is more than a version of the kernel, and containers may forbid it.
    pub(crate) fn of_system() -> &'static Self {
        static SUPPORT: OnceLock<SealSupport> = OnceLock::new();
        SUPPORT.get_or_init(measured)
    }
}

fn measured() -> SealSupport {
    let try_both =
        || SealSupport { landlock: enforcement::landlock_abi(), socket_filter: socket_filter::is_available() };
    let thread = std::thread::Builder::new().name("evalsuite-seal".to_owned()).spawn(try_both);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(support)) => support,
        Ok(Err(_)) => SealSupport::none("the attempt to restrict a thread panicked"),
        Err(error) => SealSupport::none(format!("no thread can be started to restrict: {error}")),
    }
}
