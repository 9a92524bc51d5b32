//! The file tools of the agent.

mod call;
mod desk;
mod spec;

pub use desk::{Desk, ToolError};
pub use spec::ToolSpec;

pub(crate) use call::{ERROR_PREFIX, call, shown_to_model};
pub(crate) use spec::specs;

/// Result of a tool call: text, or why it failed.
pub type ToolResult = Result<String, ToolError>;
