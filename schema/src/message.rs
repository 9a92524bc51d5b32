//! Messages, their parts, and tool calls.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{PathRef, is_default, record::Usage};

/// Who speaks in a [`Message`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions to the agent.
    System,
    /// The person or program the agent works for.
    User,
    /// The agent.
    Assistant,
    /// The answer of a tool.
    Tool,
}

impl Role {
    /// The name used in files and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

/// One message of an input, a reference or a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// Name of the speaker, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What is said. `None` for a message that only calls tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    /// Tools called by this message, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// When the message started, RFC 3339 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_time: Option<String>,
    /// When the message ended, RFC 3339 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_time: Option<String>,
    /// How long the message took, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// Number of model calls for this message, if the agent reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llm_call_count: Option<u64>,
    /// Id of the call that a tool's message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// What the model thought before it wrote this message, where it shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Model that wrote this message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tokens of the model calls for this message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Cost of the model calls for this message in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Free-form data of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

impl Message {
    /// A message with text.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::new(role, Content::Text(text.into()))
    }

    /// A message with any content.
    pub fn new(role: Role, content: Content) -> Self {
        Self { content: Some(content), ..Self::empty(role) }
    }

    /// What a tool answered to the call with this id.
    pub fn tool_result(call_id: impl Into<String>, content: Content) -> Self {
        Self { tool_call_id: Some(call_id.into()), ..Self::new(Role::Tool, content) }
    }

    /// A message without content, to which tool calls can be added.
    pub fn empty(role: Role) -> Self {
        Self {
            role,
            name: None,
            content: None,
            tool_calls: Vec::new(),
            start_time: None,
            end_time: None,
            duration_ms: None,
            llm_call_count: None,
            tool_call_id: None,
            reasoning: None,
            model: None,
            usage: None,
            cost_usd: None,
            metadata: None,
        }
    }
}

/// The content of a [`Message`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Text, files and images in order.
    Parts(Vec<Part>),
    /// Structured data; shown as JSON with an indent of two spaces.
    Data(Value),
}

/// A piece of a [`Content::Parts`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Text.
    Text(String),
    /// A file, read when the trial runs.
    File(PathRef),
    /// An image, passed as media type and path.
    Image {
        /// The image file.
        file: PathRef,
        /// Its media type, such as `image/png`.
        media_type: String,
    },
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Name of the tool.
    pub tool: String,
    /// Arguments, usually an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// What the tool returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// The call's id, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// When the call started, RFC 3339 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_time: Option<String>,
    /// When the call ended, RFC 3339 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_time: Option<String>,
    /// How long the call took, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// Whether the tool reported an error.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_error: bool,
}

impl ToolCall {
    /// A call of `tool` without arguments or result.
    pub fn new(tool: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            input: None,
            output: None,
            id: None,
            start_time: None,
            end_time: None,
            duration_ms: None,
            is_error: false,
        }
    }

    /// Sets the arguments, usually an object.
    #[must_use]
    pub fn input(mut self, input: impl Into<Value>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// Sets what the tool returned.
    #[must_use]
    pub fn output(mut self, output: impl Into<Value>) -> Self {
        self.output = Some(output.into());
        self
    }

    /// Sets the call's id.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets how long the call took, in milliseconds.
    #[must_use]
    pub fn duration_ms(mut self, duration: f64) -> Self {
        self.duration_ms = Some(duration);
        self
    }

    /// Says that the tool reported an error.
    #[must_use]
    pub fn error(mut self) -> Self {
        self.is_error = true;
        self
    }
}
