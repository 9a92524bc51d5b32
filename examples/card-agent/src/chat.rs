use std::ops::AddAssign;

/// One message between the agent loop and a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatMessage {
    /// Instructions to the model.
    System(String),
    /// What the user wrote.
    User(String),
    /// What the model said, and the tools it calls.
    Assistant {
        /// The text, if there is one.
        content: Option<String>,
        /// The calls, in order.
        tool_calls: Vec<ToolCall>,
    },
    /// What a tool returned.
    Tool {
        /// Id of the call that is answered.
        call_id: String,
        /// The tool's result, or its error.
        content: String,
    },
}

/// A model's wish to have a tool called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Links the result to the call; unique in a conversation.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// The arguments as the model wrote them: JSON text, if the model did its work.
    pub arguments: String,
}

/// One answer of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completion {
    /// The text, if there is one.
    pub content: Option<String>,
    /// The tools to call before the model is asked again; empty when it is done.
    pub tool_calls: Vec<ToolCall>,
    /// Tokens of this answer.
    pub usage: Usage,
}

/// Tokens used by a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the conversation sent to the model, without cached ones.
    pub input: u64,
    /// Tokens the model answered with.
    pub output: u64,
    /// Tokens of the conversation the endpoint had cached.
    pub cached: u64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cached += other.cached;
    }
}
