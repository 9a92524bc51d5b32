//! Data that an agent reports while it runs, or that was captured from its spans. Values have a bounded depth: records and recordings hold
//! them below further levels, and would otherwise be deeper than readers of JSON accept.

use std::collections::BTreeSet;

use evalsuite_records::record::Usage;
use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::diagnostics::suggest::listed;
use evalsuite_schema::json::{FromJson, ToJson};
use evalsuite_schema::{Message, PathRef, Role, ToolCall, Value};

use crate::model::depth::{replace_too_deep, values_of};
use crate::model::outcome::{Outcome, is_amount};

/// What an agent has reported through its [`Trial`](crate::Trial).
#[derive(Debug, Clone, Default)]
pub(crate) struct Recording {
    pub(crate) messages: Vec<Message>,
    /// Files that are part of the answer.
    pub(crate) files: Vec<PathRef>,
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

/// Data of an agent's call from its spans.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJson)]
#[json(default)]
pub(crate) struct Captured {
    /// `None` if no span is a call of a model, tool or agent.
    pub(crate) messages: Option<Vec<Message>>,
    pub(crate) usage: Option<Usage>,
    pub(crate) cost_usd: Option<f64>,
    /// The model of the last call.
    pub(crate) model: Option<String>,
    /// Definitions of the tools that were offered to models.
    pub(crate) tools: Vec<Value>,
    /// Why spans of the call are missing, or may be.
    pub(crate) missing: Option<MissingSpans>,
    /// The calls that MCP servers got are among the messages, or beside those that the agent reports.
    #[json(skip_if = "Option::is_none")]
    pub(crate) servers: Option<ServerCalls>,
    /// The agent reported tokens of a turn that may be those of its session so far, and are not in `usage`.
    #[json(skip_if = "std::ops::Not::not")]
    pub(crate) has_unclear_tokens: bool,
    /// Spans of models lack the tokens that others have, so that `usage` is not all of them.
    #[json(skip_if = "std::ops::Not::not")]
    pub(crate) lacks_tokens: bool,
    /// The same of the cost.
    #[json(skip_if = "std::ops::Not::not")]
    pub(crate) lacks_cost: bool,
    /// For a call without spans of models and tools: what was seen, and why the spans may be missing.
    #[json(skip)]
    pub(crate) seen: Option<String>,
}

/// What is known of an agent's calls of tools by its MCP servers.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJson)]
#[json(default)]
pub(crate) struct ServerCalls {
    /// Names of the tools that the servers offered.
    pub(crate) tools: Vec<String>,
    /// Whether the agent has no other tools.
    pub(crate) are_all: bool,
    /// Why calls are missing.
    pub(crate) missing: Option<String>,
}

/// Spans of a call that are missing, or may be.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
pub(crate) struct MissingSpans {
    /// What was seen of them, and what helps.
    pub(crate) message: String,
    /// Whether the calls in the spans that were seen are incomplete, as far as is known.
    pub(crate) lacks_calls: bool,
    /// The same of tokens and cost.
    pub(crate) lacks_spending: bool,
}

#[cfg_attr(not(feature = "capture"), expect(dead_code, reason = "no spans are looked for"))]
impl MissingSpans {
    /// A subscriber of the program hid the spans.
    pub(crate) fn hidden() -> Self {
        let message = "the program has set a tracing subscriber without `evalsuite::capture_layer()`, so the spans of its calls \
                       were not seen; add the layer: \
                       `tracing_subscriber::registry().with(tracing_subscriber::fmt::layer()).with(evalsuite::capture_layer()).init()`";
        Self { message: message.to_owned(), lacks_calls: true, lacks_spending: true }
    }

    /// A model asked for tools, and neither its message nor a span of a tool shows which.
    pub(crate) fn calls_not_shown() -> Self {
        let message = "a model ended its message with calls of tools (`gen_ai.response.finish_reasons`), but no span shows which; \
                       have the library record the content of messages, make a span `execute_tool` around each tool, or record its \
                       calls with `trial.recorder().call_tool`";
        Self { message: message.to_owned(), lacks_calls: true, lacks_spending: false }
    }

    /// No span is of a model or a tool, and those of agents show no calls.
    pub(crate) fn only_of_agents() -> Self {
        let message = "its spans are of agents only (`invoke_agent`), and show neither calls of models nor of tools; make a span `chat` around \
                       each call of a model and `execute_tool` around each tool, or record its calls with `trial.recorder().call_tool`";
        Self { message: message.to_owned(), lacks_calls: true, lacks_spending: false }
    }

    /// These spans may belong to this call or to another one.
    pub(crate) fn unassigned(names: &[&str]) -> Self {
        let message = format!(
            "during this call, {} made without a parent while agents of other trials were running, so it is unknown which \
             trial made them; pass the current span on, `tokio::spawn(task.in_current_span())` with `tracing::Instrument`, or run \
             one trial at a time, `-- --test-threads=1`",
            spans(names)
        );
        Self { message, lacks_calls: true, lacks_spending: true }
    }

    /// These spans were made by something from before the call.
    pub(crate) fn outside(names: &[&str]) -> Self {
        let message = format!(
            "during this call, {} made by tasks from before it, such as a server that an earlier trial has started; pass the \
             span of the trial on to them, `tracing::Instrument::instrument`",
            spans(names)
        );
        Self { message, lacks_calls: false, lacks_spending: false }
    }
}

/// What was seen of a call without spans of models and tools. `others` are the names of its other spans; `is_replaced`: a subscriber was
/// made during the call.
#[cfg_attr(not(feature = "capture"), expect(dead_code, reason = "no spans are looked for"))]
pub(crate) fn seen(others: &[&str], is_replaced: bool) -> String {
    let seen = match others {
        [] => "no other span was seen either".to_owned(),
        names => format!("its spans have no such fields ({})", listed(names)),
    };
    let why = if is_replaced {
        "a `tracing` subscriber was made during the call, which may have received the spans: add `evalsuite::capture_layer()` to it"
    } else {
        "spans are missing if the work is done by a task or a runtime from before the call (pass the span on, \
         `task.in_current_span()` with `tracing::Instrument`), if a library makes them only when it is told to, or if they do not go \
         through `tracing`"
    };
    format!("{seen}; {why}")
}

fn spans(names: &[&str]) -> String {
    let were = if names.len() == 1 { "was" } else { "were" };
    let distinct: Vec<&str> = names.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    format!("{} of models or tools ({}) {were}", counted(names.len(), "span"), listed(&distinct))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(feature = "capture")]
    fn spans_with_the_same_name_are_counted_and_named_once() {
        let message = MissingSpans::unassigned(&["tool", "chat", "tool"]).message;
        assert!(message.contains("3 spans of models or tools (`chat` and `tool`) were"), "{message}");
    }

    #[test]
    fn an_invalid_cost_is_not_hidden_by_later_ones() {
        let mut recording = Recording::default();
        recording.cost_usd(0.5);
        recording.cost_usd(0.25);
        assert_eq!(recording.outcome.cost_usd, Some(0.75));
        recording.cost_usd(-1.0);
        recording.cost_usd(2.0);
        assert!(Outcome::new().or_reported(recording.outcome).defect(&[]).is_some());
        let mut message = Message::text(Role::Assistant, "x");
        message.cost_usd = Some(-1.0);
        assert!(Outcome::new().defect(std::slice::from_ref(&message)).is_some());
        assert!(Outcome::new().with_messages(vec![message]).defect(&[]).is_some());
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
