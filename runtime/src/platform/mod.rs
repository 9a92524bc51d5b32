//! Access to the operating system for the rest of the crate: processes, locks, files, the clock, environment variables,
//! digests, printable text, calls with a time limit, and work on threads.

pub(crate) mod accessors;
pub(crate) mod async_runtime;
pub(crate) mod clock;
pub(crate) mod environment;
pub(crate) mod errors;
pub(crate) mod excerpt;
pub(crate) mod files;
pub(crate) mod notice;
pub(crate) mod process;
#[cfg(test)]
pub(crate) mod protocol_schema;
pub(crate) mod redaction;
pub(crate) mod seal_terms;
#[cfg_attr(not(all(target_os = "linux", feature = "sealed")), path = "without_seal.rs")]
pub(crate) mod sealed;
pub(crate) mod shell_quoting;
pub(crate) mod threads;
pub(crate) mod time_limit;
pub(crate) mod url;

pub(crate) use evalsuite_records::{digest, file_lock, json, package_file, untrusted};
