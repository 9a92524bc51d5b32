//! MCP servers of a trial, as the runtime and the proxy `cargo evalsuite mcp-proxy` share them: the session that the runtime makes, the
//! traces that proxies write, and recordings, from which a replay answers.

pub(crate) mod json_rpc;
pub(crate) mod recording;
pub(crate) mod session_file;
pub(crate) mod trace;

pub use json_rpc::{JsonRpc, messages_of_line, same_json};
pub use recording::{McpRecording, RecordedExchange, RecordedServer};
pub use session_file::{CLAIMS, McpSessionFile, RECORDING, TRACES};
pub use trace::{InjectedFault, Sender, TraceEvent, TraceLine, TracedMessage};
