//! Messages between the agent loop and a model.

use std::ops::AddAssign;

/// One message between the agent loop and a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatMessage {
    /// Instructions to the model.
    System(String),
    /// Text from the user.
    User(String),
    /// Text and tool calls from the model.
    Assistant {
        /// The text, if there is one.
        content: Option<String>,
        /// The calls, in order.
        tool_calls: Vec<ToolCall>,
    },
    /// Result of a tool call.
    Tool {
        /// Id of the call.
        call_id: String,
        /// The tool's result, or its error.
        content: String,
    },
}

/// A tool call that a model requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Identifies the call; unique in a conversation.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// The arguments as the model wrote them, normally JSON.
    pub arguments: String,
}

/// One completion of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completion {
    /// The text, if there is one.
    pub content: Option<String>,
    /// The tools to call before the next completion; empty if the model is done.
    pub tool_calls: Vec<ToolCall>,
    /// Tokens of this completion.
    pub usage: Usage,
}

/// Tokens used by a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input tokens, without cached ones.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens that the endpoint had cached.
    pub cached: u64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cached += other.cached;
    }
}
