//! From the spans of a call to its transcript.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_schema::{Content, Message, Role, ToolCall, Value};

use crate::agents::spans::chat_span::{self, ChatSpan, SpanKind, asks_for_tools, duration, is_error, text};
use crate::agents::spans::span_messages::structured;
use crate::agents::spans::span_store::Span;
use crate::model::captured_spans::{Captured, MissingSpans};
use crate::model::messages::content_text;

/// The transcript of all spans of a call.
pub(crate) fn assemble(spans: &[Span]) -> Captured {
    let mut chat_spans: Vec<ChatSpan<'_>> = spans.iter().map(ChatSpan::of).collect();
    let mut kinds: Vec<SpanKind> = chat_spans.iter().map(ChatSpan::kind).collect();
    let innermost = chats_of_one_call(spans, &kinds);
    for (outer, inner) in innermost {
        // The outer span has data that the inner one lacks.
        let wrapper = chat_spans[outer].clone();
        chat_spans[inner].complete(wrapper);
        kinds[outer] = SpanKind::Other;
    }
    if !kinds.contains(&SpanKind::Chat) {
        // There are no spans of model calls, so the agent's own span stands in for them.
        for (kind, chat) in kinds.iter_mut().zip(&chat_spans) {
            if *kind == SpanKind::Agent && chat.span.parent.is_none() && chat.has_output_or_usage() {
                *kind = SpanKind::Chat;
            }
        }
    }
    let mut builder = TranscriptBuilder {
        spans,
        kinds: &kinds,
        messages: Vec::new(),
        exchanges: BTreeMap::new(),
        done: BTreeSet::new(),
    };
    let mut captured = Captured::default();
    for (index, source) in chat_spans.into_iter().enumerate() {
        match kinds[index] {
            SpanKind::Chat => {
                if let Some(tokens) = source.usage {
                    *captured.usage.get_or_insert_default() += tokens;
                }
                if let Some(cost) = source.cost {
                    *captured.cost_usd.get_or_insert(0.0) += cost;
                }
                captured.model = source.model.clone().or(captured.model);
                if !source.tools.is_empty() {
                    captured.tools.clone_from(&source.tools);
                }
                builder.chat(index, source);
            }
            SpanKind::Tool => builder.tool(index),
            SpanKind::Agent | SpanKind::Other => (),
        }
    }
    let has_spans = kinds.iter().any(|kind| matches!(kind, SpanKind::Chat | SpanKind::Tool | SpanKind::Agent));
    let calls_are_shown = builder.messages.iter().any(|message| !message.tool_calls.is_empty());
    if !calls_are_shown && spans.iter().any(asks_for_tools) {
        captured.missing = Some(MissingSpans::calls_not_shown());
    }
    captured.messages = has_spans.then_some(builder.messages);
    captured
}

/// Pairs of an outer and an inner span of the same model call.
fn chats_of_one_call(spans: &[Span], kinds: &[SpanKind]) -> Vec<(usize, usize)> {
    let mut inside: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, span) in spans.iter().enumerate() {
        if kinds[index] == SpanKind::Chat
            && let Some(parent) = span.parent
            && kinds[parent] == SpanKind::Chat
        {
            inside.entry(parent).or_default().push(index);
        }
    }
    // Outer spans first, so that their data reaches the innermost one. Of several attempts, the last one is the answer.
    inside.into_iter().filter_map(|(outer, inner)| Some((outer, *inner.last()?))).collect()
}

/// One exchange with models: that of an agent, or of an agent within a tool.
#[derive(Default)]
struct Exchange {
    /// How often each message to the model was added.
    taken: BTreeMap<(&'static str, String), usize>,
    /// Answers of the model, to recognise them in later inputs.
    answers: Vec<usize>,
    /// An answer whose span has no output.
    without_output: Option<usize>,
}

struct TranscriptBuilder<'a> {
    spans: &'a [Span],
    kinds: &'a [SpanKind],
    messages: Vec<Message>,
    exchanges: BTreeMap<Option<usize>, Exchange>,
    /// Calls whose span was seen: message and position.
    done: BTreeSet<(usize, usize)>,
}

impl TranscriptBuilder<'_> {
    /// The agent or tool around a span.
    fn around(&self, index: usize) -> Option<usize> {
        let mut next = self.spans[index].parent;
        while let Some(at) = next {
            if matches!(self.kinds[at], SpanKind::Agent | SpanKind::Tool) {
                return Some(at);
            }
            next = self.spans[at].parent;
        }
        None
    }

    fn chat(&mut self, index: usize, source: ChatSpan<'_>) {
        let around = self.around(index);
        let mut exchange = self.exchanges.remove(&around).unwrap_or_default();
        self.add_inputs(&mut exchange, source.inputs);
        let span = source.span;
        let mut outputs = source.outputs.into_iter();
        let answer = outputs.find(|message| message.role == Role::Assistant);
        let failed = answer.is_none() && is_error(&span.fields);
        if !failed || source.usage.is_some() {
            let without_output = answer.is_none();
            let mut message = answer.unwrap_or_else(|| Message::empty(Role::Assistant));
            message.name = text(&span.fields, "gen_ai.agent.name").map(str::to_owned).filter(|_| around.is_some());
            message.model = source.model;
            message.usage = source.usage;
            message.cost_usd = source.cost;
            message.llm_call_count = Some(1);
            message.start_time = Some(span.began.text.clone());
            message.end_time = span.ended.as_ref().map(|end| end.text.clone());
            message.duration_ms = duration(span);
            exchange.answers.push(self.messages.len());
            exchange.without_output = without_output.then_some(self.messages.len());
            self.messages.push(message);
        }
        self.exchanges.insert(around, exchange);
    }

    /// Adds the input of a model since its last answer. Each input repeats the earlier ones.
    fn add_inputs(&mut self, exchange: &mut Exchange, inputs: Vec<Message>) {
        let mut history = None;
        for (position, message) in inputs.iter().enumerate() {
            if message.role == Role::Assistant && !self.is_answer(exchange, message) {
                match exchange.without_output.take() {
                    // The input contains the last answer.
                    Some(at) => {
                        let answer = &mut self.messages[at];
                        answer.content.clone_from(&message.content);
                        answer.reasoning.clone_from(&message.reasoning);
                        for call in &message.tool_calls {
                            if !answer.tool_calls.iter().any(|own| is_same_call(own, call)) {
                                answer.tool_calls.push(call.clone());
                            }
                        }
                    }
                    // History and examples: from before this trial, or invented.
                    None => history = Some(position),
                }
            }
        }
        let mut counts: BTreeMap<(&'static str, String), usize> = BTreeMap::new();
        for (position, message) in inputs.into_iter().enumerate() {
            match message.role {
                Role::Assistant => (),
                Role::Tool => self.add_tool_output(&message),
                Role::System | Role::User => {
                    let key = (message.role.as_str(), message.content.as_ref().map(content_text).unwrap_or_default());
                    let count = counts.entry(key.clone()).or_default();
                    *count += 1;
                    let taken = exchange.taken.entry(key).or_default();
                    // Instructions come in a field of their own, and again among the messages.
                    let again = message.role == Role::System && *taken > 0;
                    if *count > *taken && !again {
                        *taken = *count;
                        if message.role == Role::System || history.is_none_or(|history| position > history) {
                            self.messages.push(message);
                        }
                    }
                }
            }
        }
    }

    fn is_answer(&self, exchange: &Exchange, message: &Message) -> bool {
        let text = |message: &Message| message.content.as_ref().map(content_text).unwrap_or_default();
        exchange.answers.iter().filter(|at| exchange.without_output != Some(**at)).map(|at| &self.messages[*at]).any(
            |answer| {
                let calls = answer.tool_calls.iter().zip(&message.tool_calls);
                let same_calls = message.tool_calls.len() <= answer.tool_calls.len()
                    && calls.clone().all(|(own, other)| is_same_call(own, other));
                same_calls && (text(answer) == text(message) || !message.tool_calls.is_empty())
            },
        )
    }

    /// Adds the output of a tool, as the model was given it.
    fn add_tool_output(&mut self, message: &Message) {
        let Some(id) = &message.tool_call_id else { return };
        let calls = self.messages.iter_mut().rev().flat_map(|message| &mut message.tool_calls);
        let Some(call) = calls.into_iter().find(|call| call.id.as_ref() == Some(id)) else { return };
        if call.output.is_none() {
            call.output = message.content.as_ref().map(|content| match content {
                Content::Data(data) => data.clone(),
                other => Value::String(content_text(other)),
            });
        }
    }

    fn tool(&mut self, index: usize) {
        let span = &self.spans[index];
        let name = text(&span.fields, "gen_ai.tool.name").unwrap_or_else(|| {
            let name = chat_span::name(span);
            name.strip_prefix("execute_tool ").unwrap_or(name)
        });
        let id = text(&span.fields, "gen_ai.tool.call.id").filter(|id| !id.is_empty());
        let (at, position) = self.requested(name, id).unwrap_or_else(|| self.add_unrequested(index, name));
        self.done.insert((at, position));
        let call = &mut self.messages[at].tool_calls[position];
        call.id = call.id.take().or_else(|| id.map(str::to_owned));
        // The tool's span has the actual arguments and result.
        if let Some(arguments) = span.fields.get("gen_ai.tool.call.arguments") {
            call.input = Some(structured(arguments));
        }
        if let Some(result) = span.fields.get("gen_ai.tool.call.result") {
            call.output = Some(structured(result));
        }
        call.start_time = Some(span.began.text.clone());
        call.end_time = span.ended.as_ref().map(|end| end.text.clone());
        call.duration_ms = duration(span);
        call.is_error = is_error(&span.fields);
    }

    /// The call that a model requested.
    fn requested(&self, name: &str, id: Option<&str>) -> Option<(usize, usize)> {
        let calls = || {
            self.messages.iter().enumerate().rev().flat_map(|(at, message)| {
                message.tool_calls.iter().enumerate().map(move |(position, call)| ((at, position), call))
            })
        };
        let by_id = id.and_then(|id| calls().find(|(_, call)| call.id.as_deref() == Some(id)));
        let by_name = || {
            calls().find(|(place, call)| {
                call.tool == name && !self.done.contains(place) && (id.is_none() || call.id.is_none())
            })
        };
        by_id.or_else(by_name).map(|(place, _)| place)
    }

    /// Adds a call that no model requested, at the place where it was made.
    fn add_unrequested(&mut self, index: usize, name: &str) -> (usize, usize) {
        let around = self.around(index);
        let last = self.exchanges.get(&around).and_then(|exchange| exchange.answers.last().copied());
        let at = last.or_else(|| self.messages.iter().rposition(|message| message.role == Role::Assistant));
        let at = at.unwrap_or_else(|| {
            let mut message = Message::empty(Role::Assistant);
            message.llm_call_count = Some(0);
            self.messages.push(message);
            self.messages.len() - 1
        });
        self.messages[at].tool_calls.push(ToolCall::new(name));
        (at, self.messages[at].tool_calls.len() - 1)
    }
}

fn is_same_call(own: &ToolCall, other: &ToolCall) -> bool {
    match (&own.id, &other.id) {
        (Some(own), Some(other)) => own == other,
        _ => own.tool == other.tool,
    }
}
