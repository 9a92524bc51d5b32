//! A model that works by rules, offline.

mod conversation_state;
mod next_step;
mod stored_cards;

use conversation_state::ConversationState;
use serde_json::Value;

use super::{Model, ModelError};
use crate::{ChatMessage, Completion, ToolCall, ToolSpec, Usage};

/// A model that works by rules, offline: the same conversation always has the same completion.
///
/// Like any model it has no memory. It reads the whole conversation, including results of its tool calls, and decides
/// what to do next.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScriptedModel {
    _private: (),
}

impl ScriptedModel {
    /// Creates the model.
    pub fn new() -> Self {
        Self::default()
    }
}

/// The next step of the model.
#[derive(Debug, Clone, PartialEq)]
enum Step {
    /// Tool calls, with the text that explains them.
    Call(&'static str, Vec<(&'static str, Value)>),
    /// The final answer.
    Answer(String),
}

impl Model for ScriptedModel {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete(&self, conversation: &[ChatMessage], _tools: &[ToolSpec]) -> Result<Completion, ModelError> {
        let state = ConversationState::of(conversation)?;
        let (content, tool_calls) = match next_step::decide(&state) {
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
        let usage = Usage { input: conversation.iter().map(message_tokens).sum(), output, cached: 0 };
        Ok(Completion { content: Some(content), tool_calls, usage })
    }
}

/// Estimated number of tokens: one per four bytes.
fn tokens(text: &str) -> u64 {
    u64::try_from(text.len().div_ceil(4)).unwrap_or(u64::MAX)
}

fn message_tokens(message: &ChatMessage) -> u64 {
    match message {
        ChatMessage::System(text) | ChatMessage::User(text) | ChatMessage::Tool { content: text, .. } => tokens(text),
        ChatMessage::Assistant { content, tool_calls } => {
            content.as_deref().map_or(0, tokens) + tool_calls.iter().map(|call| tokens(&call.arguments)).sum::<u64>()
        }
    }
}
