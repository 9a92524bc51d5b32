//! The loop: model → tool calls → results → model …

use anyhow::{Context, bail};
use serde_json::Value;

use crate::chat::{ChatMessage, ToolCall};
use crate::memory::Memory;
use crate::model::Model;

const ORDERS: [(u64, &str); 2] = [(1182, "shipped, arrives on Friday"), (1190, "not paid yet")];
const MOST_CALLS: usize = 5;

/// An agent for one conversation.
#[derive(Debug)]
pub struct DeskAgent<M> {
    model: M,
    memory: Memory,
}

/// What a call of the agent came to.
#[derive(Debug)]
pub struct Answer {
    /// The answer.
    pub text: String,
    /// The tools that were used, in order.
    pub tools: Vec<ToolUse>,
}

/// A tool that was used.
#[derive(Debug)]
pub struct ToolUse {
    /// Name of the tool.
    pub name: String,
    /// Its arguments.
    pub input: Value,
    /// Its result.
    pub output: String,
}

impl<M: Model> DeskAgent<M> {
    /// An agent with this model and memory.
    pub fn new(model: M, memory: Memory) -> Self {
        Self { model, memory }
    }

    /// Answers the last message.
    pub fn answer(&self, mut messages: Vec<ChatMessage>) -> anyhow::Result<Answer> {
        let mut tools = Vec::new();
        for _ in 0..MOST_CALLS {
            let reply = self.model.complete(&messages)?;
            if reply.tool_calls.is_empty() {
                return Ok(Answer { text: reply.text().to_owned(), tools });
            }
            messages.push(reply.clone());
            for call in &reply.tool_calls {
                let used = self.call(call)?;
                messages.push(ChatMessage::result(&call.id, &used.output));
                tools.push(used);
            }
        }
        bail!("the model asks for tools without an end")
    }

    fn call(&self, call: &ToolCall) -> anyhow::Result<ToolUse> {
        let input: Value = serde_json::from_str(&call.function.arguments).context("the arguments are not JSON")?;
        let output = match call.function.name.as_str() {
            "find_order" => {
                let found = ORDERS.iter().find(|(id, _)| Some(*id) == input["id"].as_u64());
                found.map_or("no such order", |(_, state)| state).to_owned()
            }
            "remember" => {
                self.memory.remember(input["note"].as_str().context("`note` is not a text")?)?;
                "noted".to_owned()
            }
            "recall" => self.memory.notes()?,
            other => bail!("there is no tool `{other}`"),
        };
        Ok(ToolUse { name: call.function.name.clone(), input, output })
    }
}
