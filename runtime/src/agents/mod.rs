//! How an agent is called: in process or as a command, and what its spans report.

pub(crate) mod command;
pub(crate) mod spans;
