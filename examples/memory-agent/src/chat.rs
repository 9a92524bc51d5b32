//! Messages of OpenAI's chat API, as far as the agent needs them.

use serde::{Deserialize, Serialize};

/// A message.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatMessage {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// Its text.
    pub content: Option<String>,
    /// Calls that the assistant asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The call whose result it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

/// A call that the model asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: String,
    pub function: Function,
}

/// The function of a call, with its arguments as JSON text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Function {
    pub name: String,
    pub arguments: String,
}

impl ChatMessage {
    /// An answer.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self { role: "assistant".to_owned(), content: Some(text.into()), ..Self::default() }
    }

    /// A message that asks for one call.
    pub fn call(id: &str, name: &str, arguments: &serde_json::Value) -> Self {
        let function = Function { name: name.to_owned(), arguments: arguments.to_string() };
        let tool_calls = vec![ToolCall { id: id.to_owned(), function }];
        Self { role: "assistant".to_owned(), tool_calls, ..Self::default() }
    }

    /// The result of a call.
    pub fn result(id: &str, content: impl Into<String>) -> Self {
        let tool_call_id = Some(id.to_owned());
        Self { role: "tool".to_owned(), content: Some(content.into()), tool_call_id, ..Self::default() }
    }

    /// Its text; empty without one.
    pub fn text(&self) -> &str {
        self.content.as_deref().unwrap_or_default()
    }
}
