mod cards;
mod plan;
mod seen;

use serde_json::Value;

use super::{Model, ModelError};
use crate::{ChatMessage, Completion, ToolCall, ToolSpec, Usage};
use seen::Seen;

/// A model of rules: offline, and with the same answer to the same conversation.
///
/// Like any model it has no memory; it looks at the whole conversation, results of its tool calls included, and decides
/// what comes next.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScriptedModel {
    _private: (),
}

impl ScriptedModel {
    /// The model.
    pub fn new() -> Self {
        Self::default()
    }
}

/// What the model does next.
#[derive(Debug, Clone, PartialEq)]
enum Step {
    /// Calls tools, for a reason it says.
    Call(&'static str, Vec<(&'static str, Value)>),
    /// Is done.
    Answer(String),
}

impl Model for ScriptedModel {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete(&self, conversation: &[ChatMessage], _tools: &[ToolSpec]) -> Result<Completion, ModelError> {
        let seen = Seen::of(conversation)?;
        let (content, tool_calls) = match plan::next(&seen) {
            Step::Answer(text) => (text, Vec::new()),
            Step::Call(reason, calls) => {
                let calls = calls.into_iter().enumerate().map(|(index, (name, arguments))| ToolCall {
                    id: format!("call_{}_{index}", conversation.len()),
                    name: name.to_owned(),
                    arguments: arguments.to_string(),
                });
                (reason.to_owned(), calls.collect())
            }
        };
        let output = tokens(&content) + tool_calls.iter().map(|call: &ToolCall| tokens(&call.arguments)).sum::<u64>();
        let usage = Usage { input: conversation.iter().map(read_tokens).sum(), output, cached: 0 };
        Ok(Completion { content: Some(content), tool_calls, usage })
    }
}

/// Tokens as a rule of thumb: one for four bytes.
fn tokens(text: &str) -> u64 {
    u64::try_from(text.len().div_ceil(4)).unwrap_or(u64::MAX)
}

fn read_tokens(message: &ChatMessage) -> u64 {
    match message {
        ChatMessage::System(text) | ChatMessage::User(text) | ChatMessage::Tool { content: text, .. } => tokens(text),
        ChatMessage::Assistant { content, tool_calls } => {
            content.as_deref().map_or(0, tokens) + tool_calls.iter().map(|call| tokens(&call.arguments)).sum::<u64>()
        }
    }
}
