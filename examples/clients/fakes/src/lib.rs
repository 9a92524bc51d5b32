//! Servers on the loopback interface that stand in for a model and for an MCP server, and a conversation.

mod conversation;
pub mod http;
pub mod mcp;
pub mod model;

pub use self::conversation::conversation;
