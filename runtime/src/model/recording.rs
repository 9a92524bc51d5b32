use evalsuite_schema::{Message, Role, ToolCall, record::Usage};

use crate::model::captured_spans::Captured;

/// What an agent recorded through its [`Trial`](crate::Trial) so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recording {
    pub(crate) messages: Vec<Message>,
    pub(crate) usage: Option<Usage>,
    pub(crate) log: String,
    /// Everything that happened was recorded, even if that is nothing.
    pub(crate) complete: bool,
    /// What its spans told; it counts where the agent itself says nothing.
    pub(crate) captured: Captured,
}

impl Recording {
    /// The messages the agent recorded, else those its spans told of.
    pub(crate) fn transcript(&self) -> Option<&[Message]> {
        if self.complete || !self.messages.is_empty() {
            return Some(&self.messages);
        }
        self.captured.messages.as_deref()
    }

    /// A call belongs to the assistant message before it; without one it makes its own.
    pub(crate) fn tool_call(&mut self, call: ToolCall) {
        match self.messages.last_mut() {
            Some(message) if message.role == Role::Assistant => message.tool_calls.push(call),
            _ => {
                let mut message = Message::empty(Role::Assistant);
                message.tool_calls.push(call);
                self.messages.push(message);
            }
        }
    }

    pub(crate) fn usage(&mut self, usage: Usage) {
        *self.usage.get_or_insert_default() += usage;
    }

    pub(crate) fn log(&mut self, line: &str) {
        self.log.push_str(line);
        if !line.ends_with('\n') {
            self.log.push('\n');
        }
    }
}
