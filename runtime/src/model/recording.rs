//! Data that an agent reports while it runs.

use evalsuite_records::record::Usage;
use evalsuite_schema::{Message, Role, ToolCall};

use crate::model::captured_spans::Captured;
use crate::model::outcome::{Outcome, is_amount};
use crate::model::value_depth::{replace_too_deep, values_of};

/// What an agent has reported through its [`Trial`](crate::Trial).
#[derive(Debug, Clone, Default)]
pub(crate) struct Recording {
    pub(crate) messages: Vec<Message>,
    /// Everything else an agent can report at its end, as reported until now; `messages` are never in it.
    pub(crate) outcome: Outcome,
    pub(crate) log: String,
    /// Whether the messages are the complete transcript, even if there are none.
    pub(crate) complete: bool,
    /// Data of the agent's spans, for what the agent itself does not report.
    pub(crate) captured: Captured,
}

/// Where a tool call is among the messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallPosition {
    message: usize,
    call: usize,
}

impl Recording {
    /// The messages the agent recorded, else those of its spans.
    pub(crate) fn transcript(&self) -> Option<&[Message]> {
        if self.has_messages() {
            return Some(&self.messages);
        }
        self.captured.messages.as_deref()
    }

    /// Whether the agent recorded its messages itself, even if there are none.
    pub(crate) fn has_messages(&self) -> bool {
        self.complete || !self.messages.is_empty()
    }

    /// Replaces values that no record can hold; returns whether there were any.
    pub(crate) fn replace_too_deep(&mut self) -> bool {
        let messages = self.messages.iter_mut().chain(self.captured.messages.iter_mut().flatten());
        let in_messages = replace_too_deep(messages.flat_map(values_of));
        self.outcome.replace_too_deep() || in_messages
    }

    /// Adds a call to the assistant message before it, or to a new one if there is none.
    pub(crate) fn tool_call(&mut self, call: ToolCall) -> CallPosition {
        match self.messages.last_mut() {
            Some(message) if message.role == Role::Assistant => message.tool_calls.push(call),
            _ => self.messages.push(Message::empty(Role::Assistant).with_tool_call(call)),
        }
        let message = self.messages.len() - 1;
        CallPosition { message, call: self.messages[message].tool_calls.len() - 1 }
    }

    /// A recorded call.
    pub(crate) fn call_at(&mut self, position: CallPosition) -> Option<&mut ToolCall> {
        self.messages.get_mut(position.message)?.tool_calls.get_mut(position.call)
    }

    /// The message with a recorded call.
    #[cfg(feature = "acp")]
    pub(crate) fn message_at(&mut self, position: CallPosition) -> Option<&mut Message> {
        self.messages.get_mut(position.message)
    }

    pub(crate) fn usage(&mut self, usage: Usage) {
        *self.outcome.usage.get_or_insert_default() += usage;
    }

    /// Adds a cost. An invalid one makes the sum invalid, so that later ones do not hide it.
    pub(crate) fn cost_usd(&mut self, cost: f64) {
        *self.outcome.cost_usd.get_or_insert_default() += if is_amount(cost) { cost } else { f64::NAN };
    }

    pub(crate) fn log(&mut self, line: &str) {
        self.log.push_str(line);
        if !line.ends_with('\n') {
            self.log.push('\n');
        }
    }

    /// Adds what an agent returned or wrote in a call that ends in an error.
    pub(crate) fn keep(&mut self, returned: Outcome) {
        let mut outcome = returned.or_reported(std::mem::take(&mut self.outcome));
        if let Some(messages) = outcome.messages.take() {
            self.messages = messages;
        }
        self.outcome = outcome;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_cost_is_not_hidden_by_later_ones() {
        let mut recording = Recording::default();
        recording.cost_usd(0.5);
        recording.cost_usd(0.25);
        assert_eq!(recording.outcome.cost_usd, Some(0.75));
        recording.cost_usd(-1.0);
        recording.cost_usd(2.0);
        assert!(Outcome::new().or_reported(recording.outcome).defect().is_some());
    }

    #[test]
    fn the_returned_outcome_takes_precedence_over_what_was_reported_before() {
        let reported = Outcome::new().with_text("so far").with_cost_usd(1.0).with_state("a", 1).with_state("b", 1);
        let returned = Outcome::new().with_cost_usd(2.0).with_state("b", 2).with_model("m");
        let expected = Outcome::new().with_text("so far").with_cost_usd(2.0).with_state("a", 1).with_state("b", 2);
        assert_eq!(returned.or_reported(reported.clone()), expected.with_model("m"));
        let messages = Outcome::new().with_messages(vec![Message::text(Role::Assistant, "done")]);
        assert_eq!(messages.or_reported(reported).text(), None, "messages have an answer of their own");
    }
}
