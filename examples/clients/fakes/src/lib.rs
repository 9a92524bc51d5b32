//! Servers on the loopback interface that stand in for a model and for an MCP server.

pub mod http;
pub mod mcp;
pub mod model;
