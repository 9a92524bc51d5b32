//! Calls of agents that are commands of a targets file, and transcripts from the spans of instrumented agents.

pub(crate) mod command;
#[cfg_attr(not(feature = "capture"), path = "without_capture.rs")]
pub(crate) mod spans;
