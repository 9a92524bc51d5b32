//! Calls of agents that are commands of a targets file or speak the Agent Client Protocol, and transcripts from the spans of instrumented
//! agents.

#[cfg_attr(not(feature = "acp"), path = "without_acp.rs")]
pub(crate) mod acp;
pub(crate) mod command;
#[cfg_attr(not(feature = "mcp"), path = "without_mcp.rs")]
pub(crate) mod mcp;
#[cfg_attr(not(feature = "capture"), path = "without_capture.rs")]
pub(crate) mod spans;
