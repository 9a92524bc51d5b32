//! From the spans of a call to its transcript.

use std::collections::BTreeMap;

use evalsuite_schema::{Content, Message, Role, ToolCall, Value};

use crate::agents::spans::chat_span::{self, ChatSpan, SpanKind, add_current_names, duration, is_error, text_of};
use crate::agents::spans::span_messages::{reports_error, result, tool_input};
use crate::agents::spans::span_store::Span;
use crate::model::agent_report::{Captured, MissingSpans};
use crate::model::messages::content_text;

/// The transcript of all spans of a call.
pub(crate) fn assemble(mut spans: Vec<Span>) -> Captured {
    for span in &mut spans {
        add_current_names(&mut span.fields);
        span.events.iter_mut().for_each(|event| add_current_names(&mut event.fields));
    }
    let spans = spans.as_slice();
    let mut chat_spans: Vec<ChatSpan<'_>> = spans.iter().map(ChatSpan::of).collect();
    let mut kinds: Vec<SpanKind> = chat_spans.iter().map(ChatSpan::kind).collect();
    let innermost = chats_of_one_call(spans, &kinds);
    for (outer, inner) in innermost {
        // The outer span has data that the inner one lacks.
        let wrapper = chat_spans[outer].clone();
        chat_spans[inner].complete(wrapper);
        kinds[outer] = SpanKind::Other;
    }
    let shows_calls = kinds.iter().any(|kind| matches!(kind, SpanKind::Chat | SpanKind::Tool));
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
        done: BTreeMap::new(),
        with_span: BTreeMap::new(),
        unshown: Vec::new(),
        lost_answer: false,
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
    let shows_calls = shows_calls || builder.messages.iter().any(|message| !message.tool_calls.is_empty());
    if builder.unshown.iter().any(|at| builder.messages[*at].tool_calls.is_empty()) {
        captured.missing = Some(MissingSpans::calls_not_shown());
    } else if has_spans && !shows_calls {
        captured.missing = Some(MissingSpans::only_of_agents());
    }
    // A sum without the calls that report nothing would be too small.
    let lacks = |is_unknown: fn(&Message) -> bool| {
        let mut of_models = builder.messages.iter().filter(|message| message.llm_call_count == Some(1));
        builder.lost_answer || of_models.any(is_unknown)
    };
    captured.lacks_tokens = captured.usage.is_some() && lacks(|message| message.usage.is_none());
    captured.lacks_cost = captured.cost_usd.is_some() && lacks(|message| message.cost_usd.is_none());
    captured.messages = has_spans.then_some(builder.messages);
    captured
}

/// The spans around a span, the nearest one first.
fn ancestors<'s>(spans: &'s [Span], span: &Span) -> impl Iterator<Item = usize> + use<'s> {
    std::iter::successors(span.parent, |at| spans[*at].parent)
}

/// Pairs of an outer and an inner span of the same model call, also if other work is between them.
fn chats_of_one_call(spans: &[Span], kinds: &[SpanKind]) -> Vec<(usize, usize)> {
    let mut inside: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, span) in spans.iter().enumerate() {
        if kinds[index] == SpanKind::Chat
            && let Some(parent) = ancestors(spans, span).find(|at| kinds[*at] != SpanKind::Other)
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
    /// Answers of the model in their order, to recognise them in later inputs and to find their calls.
    answers: Vec<usize>,
    /// An answer whose span has no output.
    without_output: Option<usize>,
}

impl Exchange {
    /// Whether a message is an answer of its model.
    fn has(&self, message: usize) -> bool {
        self.answers.binary_search(&message).is_ok()
    }
}

/// The call of a tool as its span has it.
struct SpannedCall<'a> {
    name: &'a str,
    id: Option<&'a str>,
    arguments: Option<&'a Value>,
}

/// What the result of a call names.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum CallKey {
    Id(String),
    Name(String),
}

struct TranscriptBuilder<'a> {
    spans: &'a [Span],
    kinds: &'a [SpanKind],
    messages: Vec<Message>,
    exchanges: BTreeMap<Option<usize>, Exchange>,
    /// Calls whose span was seen, message and position, by the index of the span.
    done: BTreeMap<usize, (usize, usize)>,
    /// The same calls, and whether a model requested them.
    with_span: BTreeMap<(usize, usize), bool>,
    /// Messages that ended with calls of tools, by their spans.
    unshown: Vec<usize>,
    /// A model had begun to answer when its call failed.
    lost_answer: bool,
}

impl TranscriptBuilder<'_> {
    /// The agent or tool around a span.
    fn around(&self, index: usize) -> Option<usize> {
        ancestors(self.spans, &self.spans[index]).find(|at| matches!(self.kinds[*at], SpanKind::Agent | SpanKind::Tool))
    }

    fn chat(&mut self, index: usize, source: ChatSpan<'_>) {
        let is_agent = source.kind() == SpanKind::Agent;
        let around = self.around(index);
        let mut exchange = self.exchanges.remove(&around).unwrap_or_default();
        self.add_inputs(&mut exchange, source.inputs);
        let span = source.span;
        let (answers, others): (Vec<_>, Vec<_>) =
            source.outputs.into_iter().partition(|message| message.role == Role::Assistant);
        let mut answers = answers.into_iter();
        let answer = answers.next();
        let failed = answer.is_none() && source.failed;
        let has_begun = || span.fields.keys().any(|name| name.starts_with("gen_ai.response."));
        self.lost_answer |= failed && source.usage.is_none() && has_begun();
        if !failed || source.usage.is_some() {
            let without_output = answer.is_none();
            let mut message = answer.unwrap_or_else(|| Message::empty(Role::Assistant));
            message.name = text_of(&span.fields, "gen_ai.agent.name").map(str::to_owned).filter(|_| around.is_some());
            message.model = source.model;
            message.usage = source.usage;
            message.cost_usd = source.cost;
            message.llm_call_count = Some(1);
            message.start_time = Some(span.began.started_at());
            message.end_time = span.ended_at();
            message.duration_ms = duration(span);
            exchange.answers.push(self.messages.len());
            exchange.without_output = without_output.then_some(self.messages.len());
            if source.asks_for_tools {
                self.unshown.push(self.messages.len());
            }
            self.messages.push(message);
        }
        if is_agent {
            // The output of an agent may be all that it did; that of a model is one message, and alternatives to it.
            self.messages.extend(answers);
        }
        self.add_tool_outputs(&exchange, &others);
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
        self.add_tool_outputs(exchange, &inputs);
        let mut counts: BTreeMap<(&'static str, String), usize> = BTreeMap::new();
        for (position, message) in inputs.into_iter().enumerate() {
            match message.role {
                Role::Assistant | Role::Tool => (),
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

    /// Adds the outputs of tools, as the model was given them. The last output with an id, or of a tool without ids, is that of the last such
    /// call: some models give several calls the same id. The calls of this exchange come first, because other agents may have the same ids.
    fn add_tool_outputs(&mut self, exchange: &Exchange, messages: &[Message]) {
        if messages.iter().all(|message| message.role != Role::Tool) {
            return;
        }
        let (own, others): (Vec<_>, Vec<_>) = (0..self.messages.len()).partition(|at| exchange.has(*at));
        let (own, others) = (self.places(&own), self.places(&others));
        let mut later: BTreeMap<&CallKey, usize> = BTreeMap::new();
        let keyed = messages.iter().rev().filter(|message| message.role == Role::Tool).filter_map(|message| {
            let id = message.tool_call_id.clone().map(CallKey::Id);
            Some((id.or_else(|| message.name.clone().map(CallKey::Name))?, message))
        });
        let keyed: Vec<(CallKey, &Message)> = keyed.collect();
        for (key, message) in &keyed {
            let later = later.entry(key).or_default();
            let places = own.get(key).or_else(|| others.get(key));
            let place = places.and_then(|places| places.iter().rev().nth(*later));
            *later += 1;
            let Some((at, position)) = place else { continue };
            let call = &mut self.messages[*at].tool_calls[*position];
            call.is_error |= reports_error(message);
            if call.output.is_none() {
                call.output = message.content.as_ref().map(|content| match content {
                    Content::Data(data) => data.clone(),
                    other => Value::String(content_text(other)),
                });
            }
        }
    }

    /// The calls in these messages, by id and by name.
    fn places(&self, messages: &[usize]) -> BTreeMap<CallKey, Vec<(usize, usize)>> {
        let mut places: BTreeMap<CallKey, Vec<(usize, usize)>> = BTreeMap::new();
        for (place, call) in self.calls_in(messages) {
            let id = call.id.clone().map(CallKey::Id);
            for key in id.into_iter().chain([CallKey::Name(call.tool.clone())]) {
                places.entry(key).or_default().push(place);
            }
        }
        places
    }

    fn tool(&mut self, index: usize) {
        let span = &self.spans[index];
        let name = ["gen_ai.tool.name", "traceloop.entity.name"].iter().find_map(|name| text_of(&span.fields, name));
        let name = name.unwrap_or_else(|| {
            let name = chat_span::name(span);
            let prefixes = ["execute_tool ", "tools/call "];
            prefixes.iter().find_map(|prefix| Some(name.split_once(prefix)?.1)).unwrap_or(name)
        });
        let id = text_of(&span.fields, "gen_ai.tool.call.id").filter(|id| !id.is_empty());
        let told = |event: &str, field: &str| {
            span.events.iter().filter(|one| one.name == event).find_map(|one| one.fields.get(field))
        };
        let arguments =
            span.fields.get("gen_ai.tool.call.arguments").or_else(|| told("gen_ai.tool.message", "content"));
        let arguments = arguments.map(tool_input);
        let output = span.fields.get("gen_ai.tool.call.result").or_else(|| told("gen_ai.choice", "message"));
        let outer = self.same_call_around(index, name);
        let requested = || self.requested(index, &SpannedCall { name, id, arguments: arguments.as_ref() });
        let place = outer.or_else(requested);
        let is_requested = place.is_some();
        let place = place.unwrap_or_else(|| self.add_unrequested(index, name));
        self.done.insert(index, place);
        self.with_span.entry(place).or_insert(is_requested);
        let call = &mut self.messages[place.0].tool_calls[place.1];
        call.id = call.id.take().or_else(|| id.map(str::to_owned));
        if outer.is_some() {
            call.is_error |= is_error(&span.fields);
            call.input = call.input.take().or(arguments);
            call.output = call.output.take().or_else(|| output.map(result));
            return;
        }
        // The tool's span has the actual arguments and result, and of several attempts, the last one counts. A text does not replace the
        // object that the model wrote.
        call.is_error = is_error(&span.fields);
        if let Some(arguments) = arguments.filter(|json| json.is_object() || call.input.is_none()) {
            call.input = Some(arguments);
        }
        if let Some(output) = output {
            call.output = Some(result(output));
        }
        call.start_time = Some(span.began.started_at());
        call.end_time = span.ended_at();
        call.duration_ms = duration(span);
    }

    /// The call of the tool around a span of MCP: both are the same call, for which an agent may use its own name.
    fn same_call_around(&self, index: usize, name: &str) -> Option<(usize, usize)> {
        let around = self.around(index).filter(|_| self.spans[index].fields.contains_key("mcp.method.name"))?;
        let place = *self.done.get(&around)?;
        self.messages[place.0].tool_calls[place.1].tool.ends_with(name).then_some(place)
    }

    /// The call that a model requested, in this exchange or else in another one.
    fn requested(&self, index: usize, call: &SpannedCall<'_>) -> Option<(usize, usize)> {
        let exchange = self.exchanges.get(&self.around(index));
        let is_own = |at: &usize| exchange.is_none_or(|exchange| exchange.has(*at));
        let (own, others): (Vec<_>, Vec<_>) = (0..self.messages.len()).rev().partition(is_own);
        self.without_span(&own, call)
            .or_else(|| self.repeated(&own, index, call))
            .or_else(|| self.without_span(&others, call))
    }

    /// The call in the first of these messages that has one without a span, rather one with the same arguments: agents that run at the same
    /// time may number their calls alike.
    fn without_span(&self, messages: &[usize], call: &SpannedCall<'_>) -> Option<(usize, usize)> {
        let open = || self.calls_in(messages).filter(|(place, _)| !self.with_span.contains_key(place));
        let by_id = || open().filter(|(_, open)| call.id.is_some() && open.id.as_deref() == call.id);
        let is_named = |open: &ToolCall| open.tool == call.name && (call.id.is_none() || open.id.is_none());
        let by_name = || open().filter(|(_, open)| is_named(open));
        let is_same = |(_, open): &(_, &ToolCall)| call.arguments.is_some() && open.input.as_ref() == call.arguments;
        let found = by_id().find(is_same).or_else(|| by_id().next());
        found.or_else(|| by_name().find(is_same)).or_else(|| by_name().next()).map(|(place, _)| place)
    }

    /// The call with this id if a model requested it, and its tool is tried again, or if a span around this one is of the same call. Without
    /// the contents of messages, every other span is a call of its own.
    fn repeated(&self, messages: &[usize], index: usize, call: &SpannedCall<'_>) -> Option<(usize, usize)> {
        let is_around = |place: &(usize, usize)| {
            ancestors(self.spans, &self.spans[index]).any(|at| self.done.get(&at) == Some(place))
        };
        let with_id = self.calls_in(messages).filter(|(_, other)| call.id.is_some() && other.id.as_deref() == call.id);
        with_id.map(|(place, _)| place).find(|place| self.with_span.get(place) == Some(&true) || is_around(place))
    }

    fn calls_in(&self, messages: &[usize]) -> impl Iterator<Item = ((usize, usize), &ToolCall)> {
        messages.iter().flat_map(|at| {
            let calls = self.messages[*at].tool_calls.iter().enumerate();
            calls.map(move |(position, call)| ((*at, position), call))
        })
    }

    /// Adds a call that no model requested, at the place where it was made.
    fn add_unrequested(&mut self, index: usize, name: &str) -> (usize, usize) {
        let around = self.around(index);
        let last = self.exchanges.get(&around).and_then(|exchange| exchange.answers.last().copied());
        let of_tool_around = || around.and_then(|around| self.done.get(&around)).map(|place| place.0);
        let at = last.or_else(of_tool_around);
        let at = at.or_else(|| self.messages.iter().rposition(|message| message.role == Role::Assistant));
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
