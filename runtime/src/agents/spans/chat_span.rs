//! A single span: its kind, and the messages, tokens and cost of a call of a model, under the names of the current conventions, and the
//! older and other ones for the same data.

use std::collections::BTreeMap;

use evalsuite_records::record::Usage;
use evalsuite_schema::{Message, Object, Role, Value};

use crate::agents::spans::span_messages::{holds_messages, read, structured};
use crate::agents::spans::span_store::{ERROR_TYPE, OTEL_NAME, Span};

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
    text_of(&span.fields, OTEL_NAME).unwrap_or(span.name)
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
    /// The model ended its message with calls of tools.
    pub(crate) asks_for_tools: bool,
    pub(crate) failed: bool,
}

impl<'a> ChatSpan<'a> {
    pub(crate) fn of(span: &'a Span) -> Self {
        let model =
            text_of(&span.fields, "gen_ai.response.model").or_else(|| text_of(&span.fields, "gen_ai.request.model"));
        Self {
            span,
            inputs: inputs(span),
            outputs: outputs(span),
            usage: usage(&span.fields),
            cost: cost(&span.fields),
            model: model.map(str::to_owned),
            tools: tools(&span.fields),
            asks_for_tools: asks_for_tools(span),
            failed: is_error(&span.fields),
        }
    }

    /// The kind of work in the span.
    pub(crate) fn kind(&self) -> SpanKind {
        let fields = &self.span.fields;
        if let Some(operation) = text_of(fields, "gen_ai.operation.name") {
            return named(operation);
        }
        if let Some((value, kinds)) = KINDS.iter().find_map(|(name, kinds)| Some((text_of(fields, name)?, kinds))) {
            let kind = kinds.iter().find(|(word, _)| value.eq_ignore_ascii_case(word));
            return kind.map_or(SpanKind::Other, |(_, kind)| *kind);
        }
        match named(name(self.span)) {
            SpanKind::Other if fields.contains_key("gen_ai.tool.name") => SpanKind::Tool,
            SpanKind::Other if self.has_output_or_usage() || !self.inputs.is_empty() => SpanKind::Chat,
            // Also if the request is cut off.
            SpanKind::Other if fields.contains_key(GOOGLE_REQUEST) => SpanKind::Chat,
            kind => kind,
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
        self.asks_for_tools |= other.asks_for_tools;
        self.failed |= other.failed;
        if self.tools.is_empty() {
            self.tools = other.tools;
        }
    }

    pub(crate) fn has_output_or_usage(&self) -> bool {
        !self.outputs.is_empty() || self.usage.is_some()
    }
}

/// The kind of work by the name of an operation, or of a span.
fn named(name: &str) -> SpanKind {
    let is = |word: &str| name == word || name.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '_']));
    match name {
        "text_completion" | "generate_content" | "completion" => SpanKind::Chat,
        "invoke_workflow" => SpanKind::Agent,
        _ if is("chat") => SpanKind::Chat,
        _ if is("execute_tool") || is("tools/call") => SpanKind::Tool,
        _ if is("invoke_agent") => SpanKind::Agent,
        _ => SpanKind::Other,
    }
}

/// Attributes of other conventions that name the kind of work, and their values. A value that is not here is other work.
const KINDS: [(&str, &[(&str, SpanKind)]); 4] = [
    ("openinference.span.kind", &[("llm", SpanKind::Chat), ("tool", SpanKind::Tool), ("agent", SpanKind::Agent)]),
    ("traceloop.span.kind", &[("tool", SpanKind::Tool), ("agent", SpanKind::Agent), ("workflow", SpanKind::Agent)]),
    ("llm.request.type", &[("chat", SpanKind::Chat), ("completion", SpanKind::Chat)]),
    ("mcp.method.name", &[("tools/call", SpanKind::Tool)]),
];

/// Fields with the input of a model, and who speaks in them.
const INPUTS: [(&str, Role); 2] = [("gen_ai.system_instructions", Role::System), ("gen_ai.input.messages", Role::User)];

/// The input of a model: in fields, or in events of older conventions.
fn inputs(span: &Span) -> Vec<Message> {
    let named = |(name, speaker): &(&str, Role)| -> Vec<Message> {
        values(span, name).flat_map(|value| read(value, *speaker)).collect()
    };
    let mut messages: Vec<Message> = INPUTS.iter().flat_map(named).collect();
    for event in &span.events {
        let role = event.name.strip_prefix("gen_ai.").and_then(|name| name.strip_suffix(".message"));
        if let Some(role) = role.and_then(Role::of_word) {
            messages.extend(body(&event.fields, role));
        }
    }
    messages
}

/// The value of a field of the span, else those of its events: some libraries write the same messages to both.
fn values<'s>(span: &'s Span, name: &str) -> impl Iterator<Item = &'s Value> {
    let own = span.fields.get(name);
    let of_events = span.events.iter().filter(move |_| own.is_none()).filter_map(move |event| event.fields.get(name));
    own.into_iter().chain(of_events)
}

/// The output of a model.
fn outputs(span: &Span) -> Vec<Message> {
    let values = values(span, "gen_ai.output.messages");
    let mut messages: Vec<Message> = values.flat_map(|value| read(value, Role::Assistant)).collect();
    let choices = span.events.iter().filter(|event| event.name == "gen_ai.choice");
    messages.extend(choices.flat_map(|event| body(&event.fields, Role::Assistant)));
    messages
}

/// Whether a model ended its message with calls of tools, by its fields and those of its events.
fn asks_for_tools(span: &Span) -> bool {
    let all = std::iter::once(&span.fields).chain(span.events.iter().map(|event| &event.fields));
    let reasons = all.flat_map(|fields| fields.iter().filter(|(name, _)| is_finish_reason(name)));
    let texts: Vec<String> = reasons.map(|(_, value)| value.to_string().to_lowercase()).collect();
    ["tool_call", "tool_use", "function_call"].iter().any(|reason| texts.iter().any(|text| text.contains(reason)))
}

fn is_finish_reason(name: &str) -> bool {
    name == "gen_ai.response.finish_reasons" || name.ends_with("finish_reason")
}

/// Definitions of the tools that were offered to a model.
fn tools(fields: &Object) -> Vec<Value> {
    let Some(Value::Array(tools)) = fields.get("gen_ai.tool.definitions").map(structured) else { return Vec::new() };
    // OpenInference has each as JSON in a text.
    let tools = tools.iter().map(|tool| structured(tool.pointer("/tool/json_schema").unwrap_or(tool)));
    tools.filter(Value::is_object).collect()
}

/// The message in an event of the older conventions: in one field, or spread over several.
fn body(fields: &Object, speaker: Role) -> Vec<Message> {
    for name in ["gen_ai.event.content", "body"] {
        if let Some(value) = fields.get(name) {
            return read(value, speaker);
        }
    }
    let mut spread = Object::new();
    for (name, value) in fields {
        let json = structured(value);
        let is_text = ["content", "message"].contains(&name.as_str()) && !holds_messages(&json, speaker);
        spread.insert(name.clone(), if is_text { value.clone() } else { json });
    }
    // `tracing` calls the text of an event its message. Parts may have that name, too.
    if spread.get("message").is_some_and(|message| !message.is_object()) {
        let message = spread.remove("message").unwrap_or_default();
        spread.get_or_insert("content", message);
    }
    read(&Value::Object(spread), speaker)
}

pub(crate) fn text_of<'a>(fields: &'a Object, name: &str) -> Option<&'a str> {
    fields.get(name).and_then(Value::as_str)
}

pub(crate) fn is_error(fields: &Object) -> bool {
    let failed = |name: &str| fields.get(name).is_some_and(|value| value != "");
    failed(ERROR_TYPE)
        || failed("gen_ai.tool.error.type")
        || ["otel.status_code", "gen_ai.tool.status"]
            .iter()
            .any(|name| text_of(fields, name).is_some_and(|code| code.eq_ignore_ascii_case("error")))
}

pub(crate) fn duration(span: &Span) -> Option<f64> {
    let end = span.ended.as_ref()?;
    Some(span.began.until(end).as_secs_f64() * 1000.0)
}

/// The tokens of a call.
fn usage(fields: &Object) -> Option<Usage> {
    let input = tokens(fields, "input_tokens");
    let output = tokens(fields, "output_tokens");
    if input.is_none() && output.is_none() {
        return None;
    }
    let reasoning = tokens(fields, "reasoning.output_tokens").unwrap_or(0);
    let (input, cached) = (input.unwrap_or(0), tokens(fields, "cache_read.input_tokens").unwrap_or(0));
    // Cached tokens are part of the input by the conventions; where they are more, they were left out of it.
    let fresh = input.checked_sub(cached).unwrap_or(input);
    Some(Usage::new(fresh, output.unwrap_or(0)).with_cached(cached).with_reasoning(reasoning))
}

fn tokens(fields: &Object, name: &str) -> Option<u64> {
    match fields.get(&format!("gen_ai.usage.{name}"))? {
        Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    }
}

/// Cost in US dollars, for which the conventions have no name.
fn cost(fields: &Object) -> Option<f64> {
    let amount = |value: &Value| value.as_f64().or_else(|| value.as_str()?.parse().ok());
    let cost =
        ["gen_ai.usage.cost", "llm.cost.total", "operation.cost"].iter().find_map(|name| amount(fields.get(name)?));
    cost.filter(|cost| cost.is_finite() && *cost >= 0.0)
}

/// The request to a model, in Google's agents.
const GOOGLE_REQUEST: &str = "gcp.vertex.agent.llm_request";

/// The current name of an attribute, and its other names in the order of their precedence. A name that ends with `.*` is that of a list whose
/// values are spread over attributes with numbers in their names. `docs/spans.md` lists them.
const NAMES: [(&str, &[&str]); 13] = [
    ("gen_ai.request.model", &["llm.model_name"]),
    ("gen_ai.response.finish_reasons", &["llm.finish_reason"]),
    ("gen_ai.input.messages", &["gen_ai.prompt", "gen_ai.prompt.*", "llm.input_messages.*", GOOGLE_REQUEST]),
    (
        "gen_ai.output.messages",
        &["gen_ai.completion", "gen_ai.completion.*", "llm.output_messages.*", "gcp.vertex.agent.llm_response"],
    ),
    ("gen_ai.tool.definitions", &["llm.request.functions.*", "llm.tools.*"]),
    ("gen_ai.tool.name", &["tool.name"]),
    ("gen_ai.tool.call.id", &["gen_ai.tool.call_id", "tool.id"]),
    ("gen_ai.tool.call.arguments", &["tool_arguments", "input.value", "traceloop.entity.input"]),
    ("gen_ai.tool.call.result", &["tool_response", "output.value", "traceloop.entity.output"]),
    ("gen_ai.usage.input_tokens", &["gen_ai.usage.prompt_tokens", "llm.token_count.prompt"]),
    ("gen_ai.usage.output_tokens", &["gen_ai.usage.completion_tokens", "llm.token_count.completion"]),
    (
        "gen_ai.usage.cache_read.input_tokens",
        &[
            "gen_ai.usage.cache_read_input_tokens",
            "gen_ai.usage.cache_read_tokens",
            "gen_ai.usage.cached_input_tokens",
            "gen_ai.usage.cached_tokens",
            "gen_ai.usage.details.cache_read_tokens",
            "llm.token_count.prompt_details.cache_read",
        ],
    ),
    (
        "gen_ai.usage.reasoning.output_tokens",
        &[
            "gen_ai.usage.reasoning_tokens",
            "gen_ai.usage.thinking_tokens",
            "gen_ai.usage.details.reasoning_tokens",
            "llm.token_count.completion_details.reasoning",
        ],
    ),
];

/// Adds data under its current name where only another name has it.
pub(crate) fn add_current_names(fields: &mut Object) {
    for (current, others) in NAMES {
        if !fields.contains_key(current)
            && let Some(value) = others.iter().find_map(|name| value_of(fields, name))
        {
            fields.insert(current.to_owned(), value);
        }
    }
}

fn value_of(fields: &Object, name: &str) -> Option<Value> {
    match name.strip_suffix('*') {
        Some(prefix) => spread_list(fields, prefix),
        None => fields.get(name).filter(|value| !name.starts_with("gcp.") || is_whole(value)).cloned(),
    }
}

/// Whether a request or response of Google's agents is recorded: they write an empty object for what they do not record, and adk-rust cuts off
/// the rest of a long one (`…...[truncated 90 bytes]`).
fn is_whole(value: &Value) -> bool {
    value.as_str().is_some_and(|json| json != "{}" && json.ends_with('}'))
}

/// A list that is spread over attributes: `PREFIX0.role`, `PREFIX0.tool_calls.0.name`.
fn spread_list(fields: &Object, prefix: &str) -> Option<Value> {
    let mut list = Branch::default();
    for (name, value) in fields {
        if let Some(path) = name.strip_prefix(prefix)
            && path.starts_with(|first: char| first.is_ascii_digit())
        {
            list.add(path, value);
        }
    }
    Some(list.into_value()).filter(Value::is_array)
}

/// Values by the first part of their names.
#[derive(Default)]
struct Branch<'a> {
    value: Option<&'a Value>,
    branches: BTreeMap<&'a str, Branch<'a>>,
}

impl<'a> Branch<'a> {
    fn add(&mut self, path: &'a str, value: &'a Value) {
        let mut branch = self;
        for part in path.split('.') {
            branch = branch.branches.entry(part).or_default();
        }
        branch.value = Some(value);
    }

    /// An array if all names are numbers.
    fn into_value(self) -> Value {
        if self.branches.is_empty() {
            return self.value.cloned().unwrap_or_default();
        }
        let numbers: Option<Vec<u64>> = self.branches.keys().map(|name| name.parse().ok()).collect();
        let Some(numbers) = numbers else {
            let fields = self.branches.into_iter().map(|(name, branch)| (name.to_owned(), branch.into_value()));
            return Value::Object(fields.collect());
        };
        let mut items: Vec<(u64, Value)> =
            numbers.into_iter().zip(self.branches.into_values().map(Branch::into_value)).collect();
        items.sort_by_key(|(number, _)| *number);
        Value::Array(items.into_iter().map(|(_, item)| item).collect())
    }
}
