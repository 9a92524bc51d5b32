//! How agents are called: as commands of a targets file, and what the spans of instrumented agents report.

pub(crate) mod command;
pub(crate) mod spans;
