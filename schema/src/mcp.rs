//! MCP servers of a target: the keys below `mcp`.

use evalsuite_derive::{Keys, Words, skip_empty};

use crate::Object;
use crate::json::{FromJson, ToJson};

/// The MCP servers that an agent may use, and the proxy between the agent and them.
#[skip_empty]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJson, Keys)]
#[json(fill)]
#[keys(id = "mcp", what = "`mcp`", by_hand)]
pub struct Mcp {
    /// The servers, by name.
    #[key(Map(&Object(McpServer::TABLE)), "{notes: {command: my-notes-server, args: [.]}}", required, codes(TargetsFile), by_hand)]
    pub servers: Vec<McpServer>,
    /// Whether a proxy between the agent and its servers records the calls of tools, for graders. With `false` the agent gets the servers
    /// themselves.
    #[key(Boolean, "false", default = "`true`", init = true)]
    pub record: bool,
    /// Whether the servers are not started: the recorded answers of each trial take their place. `EVALSUITE_MCP` takes precedence.
    #[key(Boolean, "true", default = "`false`", codes(ConflictingKeys))]
    #[json(default, skip_if = "std::ops::Not::not")]
    pub replay: bool,
    /// Target whose recordings are replayed, for targets that differ only in their model.
    #[key(Text, "default", default = "the target itself")]
    pub recorded_by: Option<String>,
    /// Whether the agent has no other tools than those of its servers. A call that no server got was then not made.
    #[key(Boolean, "true", default = "`false`")]
    #[json(default, skip_if = "std::ops::Not::not")]
    pub only_tools: bool,
    /// Calls that fail or are late, to test what the agent does then. Of several entries for a call, the first one applies.
    #[key(List(&Object(McpFault::TABLE)), "[{tool: search, fault: error, calls: [1]}]", codes(ConflictingKeys, TargetsFile))]
    pub faults: Vec<McpFault>,
}

/// A program that speaks the Model Context Protocol on its standard input and output.
#[skip_empty]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJson, Keys)]
#[json(fill)]
#[keys(id = "mcp-server", what = "an MCP server")]
#[also(type: Any, "stdio", "The transport. Only `stdio` is supported, which need not be written.", by_hand, codes(UnsupportedKey))]
#[also(url: Any, "https://mcp.example.com", "Servers with HTTP are not supported.",
    refused(UnsupportedKey, "MCP servers with a `url` are not supported: the proxy speaks stdio",
        "name a command that connects to it, or record it with `record` of the macro: docs/recording.md"))]
pub struct McpServer {
    /// Its name.
    #[json(default)]
    pub name: String,
    /// The program. No shell is involved.
    #[key(Text, "npx", required)]
    pub command: String,
    /// Its arguments.
    #[key(List(&AnyText), "[-y, \"@modelcontextprotocol/server-filesystem\", .]")]
    pub args: Vec<String>,
    /// Variables that the agent adds to the environment of the server.
    #[key(Map(&AnyText), "{API_KEY: \"${{ SEARCH_KEY }}\"}", by_hand)]
    pub env: Vec<(String, String)>,
    /// Further keys of the server in the file that the agent reads, such as `trust` or `timeout`.
    #[key(Data, "{trust: true}")]
    pub config: Object,
}

/// What happens to calls of a tool.
#[skip_empty]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[keys(id = "mcp-fault", what = "a fault")]
pub struct McpFault {
    /// Name of the tool whose calls fail, or a pattern with `*` and `?`.
    #[key(Text, "search", required)]
    pub tool: String,
    /// Name of the server.
    #[key(Text, "notes", default = "every server", codes(TargetsFile))]
    pub server: Option<String>,
    /// `timeout`: the call is not made, and never answered. `error`: the call is not made, and answered with an error of the tool.
    /// `garbled`: the call is made, and the texts in its answer are cut off and damaged. `slow`: the answer is late.
    #[key(Choice(McpFaultKind::WORDS), "error", required)]
    pub fault: McpFaultKind,
    /// Which of these calls of the trial, counted from 1.
    #[key(List(&Integer(1, 1_000_000)), "[1, 2]", default = "all")]
    pub calls: Vec<u64>,
    /// Delay of the answer.
    #[key(Number(&NOT_NEGATIVE), "2500", default = "5000 for `slow`, else 0", unit = "milliseconds")]
    pub after_ms: Option<f64>,
    /// The text of the error.
    #[key(Text, "quota exceeded", default = "`the tool failed`")]
    pub message: Option<String>,
}

/// What a [`McpFault`] does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
#[json(rename_all = "lowercase")]
pub enum McpFaultKind {
    /// The call is not answered.
    Timeout,
    /// The call is answered with an error of the tool.
    Error,
    /// The texts of the answer are damaged.
    Garbled,
    /// The answer is late.
    Slow,
}
