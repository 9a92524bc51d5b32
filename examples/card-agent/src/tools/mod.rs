mod call;
mod desk;
mod spec;

pub(crate) use call::{ERROR_PREFIX, call, shown_to_model};
pub use desk::{Desk, ToolError};
pub use spec::ToolSpec;
pub(crate) use spec::specs;

/// What a tool gives back: text, or why it did nothing.
pub type ToolResult = Result<String, ToolError>;
