//! Calls of agents that are commands of a targets file, and transcripts from the spans of instrumented agents.

pub(crate) mod command;
pub(crate) mod spans;
