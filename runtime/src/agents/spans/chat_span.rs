//! A single span: its kind, and the messages, tokens and cost of a call of a model.

use evalsuite_records::record::Usage;
use evalsuite_schema::{Message, Object, Role, Value};

use crate::agents::spans::span_fields::OTEL_NAME;
use crate::agents::spans::span_messages::{read, structured};
use crate::agents::spans::span_store::Span;

/// The kind of work in a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpanKind {
    Chat,
    Tool,
    Agent,
    Other,
}

/// The name that OpenTelemetry gives the span.
pub(crate) fn name(span: &Span) -> &str {
    text(&span.fields, OTEL_NAME).unwrap_or(span.name)
}

/// The data of the span of a model call.
#[derive(Clone)]
pub(crate) struct ChatSpan<'a> {
    pub(crate) span: &'a Span,
    pub(crate) inputs: Vec<Message>,
    pub(crate) outputs: Vec<Message>,
    pub(crate) usage: Option<Usage>,
    pub(crate) cost: Option<f64>,
    pub(crate) model: Option<String>,
    pub(crate) tools: Vec<Value>,
}

impl<'a> ChatSpan<'a> {
    pub(crate) fn of(span: &'a Span) -> Self {
        let model = text(&span.fields, "gen_ai.response.model").or_else(|| text(&span.fields, "gen_ai.request.model"));
        let tools = span.fields.get("gen_ai.tool.definitions").map(structured);
        Self {
            span,
            inputs: inputs(span),
            outputs: outputs(span),
            usage: usage(&span.fields),
            cost: cost(&span.fields),
            model: model.map(str::to_owned),
            tools: match tools {
                Some(Value::Array(tools)) => tools.into_iter().filter(Value::is_object).collect(),
                _ => Vec::new(),
            },
        }
    }

    /// The kind of work in the span.
    pub(crate) fn kind(&self) -> SpanKind {
        let named = |name: &str| {
            let is =
                |word: &str| name == word || name.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '_']));
            match name {
                "text_completion" | "generate_content" | "completion" => SpanKind::Chat,
                "invoke_workflow" => SpanKind::Agent,
                _ if is("chat") => SpanKind::Chat,
                _ if is("execute_tool") => SpanKind::Tool,
                _ if is("invoke_agent") => SpanKind::Agent,
                _ => SpanKind::Other,
            }
        };
        match text(&self.span.fields, "gen_ai.operation.name") {
            Some(operation) => named(operation),
            None => match named(name(self.span)) {
                SpanKind::Other if self.span.fields.contains_key("gen_ai.tool.name") => SpanKind::Tool,
                SpanKind::Other if self.has_output_or_usage() || !self.inputs.is_empty() => SpanKind::Chat,
                kind => kind,
            },
        }
    }

    pub(crate) fn complete(&mut self, other: Self) {
        if self.inputs.is_empty() {
            self.inputs = other.inputs;
        }
        if self.outputs.is_empty() {
            self.outputs = other.outputs;
        }
        self.usage = self.usage.or(other.usage);
        self.cost = self.cost.or(other.cost);
        self.model = self.model.take().or(other.model);
        if self.tools.is_empty() {
            self.tools = other.tools;
        }
    }

    pub(crate) fn has_output_or_usage(&self) -> bool {
        !self.outputs.is_empty() || self.usage.is_some()
    }
}

/// Fields with the input of a model, and who speaks in them.
const INPUTS: [(&str, Role); 3] = [
    ("gen_ai.system_instructions", Role::System),
    ("gen_ai.input.messages", Role::User),
    ("gen_ai.prompt", Role::User),
];

/// The input of a model: in fields, or in events of older conventions.
fn inputs(span: &Span) -> Vec<Message> {
    let take = |fields: &Object, inputs: &[(&str, Role)]| -> Vec<Message> {
        inputs.iter().filter_map(|(name, speaker)| Some(read(fields.get(name)?, *speaker))).flatten().collect()
    };
    let mut messages = take(&span.fields, &INPUTS);
    for event in &span.events {
        let role = event.name.strip_prefix("gen_ai.").and_then(|name| name.strip_suffix(".message"));
        messages.extend(match role.and_then(Role::of_word) {
            Some(role) => body(&event.fields, role),
            // Instructions are fields of spans only.
            None => take(&event.fields, &INPUTS[1..]),
        });
    }
    messages
}

/// The output of a model.
fn outputs(span: &Span) -> Vec<Message> {
    let all = std::iter::once(&span.fields).chain(span.events.iter().map(|event| &event.fields));
    let mut messages: Vec<Message> = all
        .flat_map(|fields| ["gen_ai.output.messages", "gen_ai.completion"].map(|name| fields.get(name)))
        .flatten()
        .flat_map(|value| read(value, Role::Assistant))
        .collect();
    let choices = span.events.iter().filter(|event| event.name == "gen_ai.choice");
    messages.extend(choices.flat_map(|event| body(&event.fields, Role::Assistant)));
    messages
}

/// Whether a model ended its message with calls of tools.
pub(crate) fn asks_for_tools(span: &Span) -> bool {
    let reasons = span.fields.get("gen_ai.response.finish_reasons").map(Value::to_string).unwrap_or_default();
    ["tool_call", "tool_use", "function_call"].iter().any(|reason| reasons.contains(reason))
}

/// The message in an event of the older conventions: in one field, or spread over several.
fn body(fields: &Object, speaker: Role) -> Vec<Message> {
    for name in ["gen_ai.event.content", "body"] {
        if let Some(value) = fields.get(name) {
            return read(value, speaker);
        }
    }
    let mut spread: Object = fields.iter().map(|(name, value)| (name.clone(), structured(value))).collect();
    // `tracing` calls the text of an event its message.
    if spread.get("message").is_some_and(Value::is_string) {
        let message = spread.remove("message").unwrap_or_default();
        spread.get_or_insert("content", message);
    }
    read(&Value::Object(spread), speaker)
}

pub(crate) fn text<'a>(fields: &'a Object, name: &str) -> Option<&'a str> {
    fields.get(name).and_then(Value::as_str)
}

pub(crate) fn is_error(fields: &Object) -> bool {
    let failed = |name: &str| fields.get(name).is_some_and(|value| value != "");
    failed("error.type")
        || failed("gen_ai.tool.error.type")
        || text(fields, "otel.status_code").is_some_and(|code| code.eq_ignore_ascii_case("error"))
}

pub(crate) fn duration(span: &Span) -> Option<f64> {
    let end = span.ended.as_ref()?;
    Some(end.clock.saturating_duration_since(span.began.clock).as_secs_f64() * 1000.0)
}

/// Tokens under their present and former names.
fn usage(fields: &Object) -> Option<Usage> {
    let input = tokens(fields, &["input", "prompt"]);
    let output = tokens(fields, &["output", "completion"]);
    if input.is_none() && output.is_none() {
        return None;
    }
    let cached = tokens(fields, &["cache_read.input", "cache_read_input", "cache_read", "cached_input", "cached"]);
    let reasoning = tokens(fields, &["reasoning.output", "reasoning", "thinking"]);
    let (input, cached) = (input.unwrap_or(0), cached.unwrap_or(0));
    // Cached tokens are part of the input by the conventions; where they are more, they were left out of it.
    let fresh = input.checked_sub(cached).unwrap_or(input);
    Some(Usage::new(fresh, output.unwrap_or(0)).with_cached(cached).with_reasoning(reasoning.unwrap_or(0)))
}

/// The first of the fields `gen_ai.usage.NAME_tokens` that is a number.
fn tokens(fields: &Object, names: &[&str]) -> Option<u64> {
    names.iter().find_map(|name| match fields.get(&format!("gen_ai.usage.{name}_tokens"))? {
        Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    })
}

/// Cost in US dollars; the conventions have no name for it, this one is the most common.
fn cost(fields: &Object) -> Option<f64> {
    fields.get("gen_ai.usage.cost").and_then(Value::as_f64).filter(|cost| cost.is_finite() && *cost >= 0.0)
}
