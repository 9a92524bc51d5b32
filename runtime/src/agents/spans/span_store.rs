//! The spans of one call of an agent, with fields and events as JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use evalsuite_schema::{Object, Value};
use tracing::field::{Field, Visit};
use tracing::{Level, Metadata};

use crate::platform::clock::Stopwatch;

/// Spans in the order they began.
#[derive(Debug, Default)]
pub(crate) struct Spans(Mutex<SeenSpans>);

/// What was seen of a call.
#[derive(Debug, Default)]
pub(crate) struct SeenSpans {
    pub(crate) spans: Vec<Span>,
    /// Names of spans that may belong to this call or to another one, by a number of theirs.
    pub(crate) unassigned: BTreeMap<u64, &'static str>,
    /// Names of spans of something from before the call.
    pub(crate) outside: BTreeSet<&'static str>,
    /// Names of spans that are neither of models nor of tools.
    pub(crate) others: BTreeSet<&'static str>,
    /// The call is over; later spans are ignored.
    closed: bool,
}

#[derive(Debug)]
pub(crate) struct Span {
    pub(crate) name: &'static str,
    pub(crate) fields: Object,
    /// Index of the nearest ancestor among these spans.
    pub(crate) parent: Option<usize>,
    pub(crate) events: Vec<Event>,
    pub(crate) began: Stopwatch,
    pub(crate) ended: Option<Stopwatch>,
}

#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) fields: Object,
}

impl Span {
    pub(crate) fn ended_at(&self) -> Option<String> {
        self.ended.as_ref().map(|end| self.began.after(self.began.until(end)))
    }

    /// The call has failed, unless its span says so itself.
    pub(crate) fn fail(&mut self, error: Value) {
        self.fields.get_or_insert(ERROR_TYPE, error);
    }
}

impl Spans {
    /// What was seen until now.
    pub(crate) fn seen(&self) -> MutexGuard<'_, SeenSpans> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.seen().closed
    }

    pub(crate) fn add(&self, name: &'static str, fields: Object, parent: Option<usize>) -> usize {
        let mut list = self.seen();
        let span = Span { name, fields, parent, events: Vec::new(), began: Stopwatch::start(), ended: None };
        if !list.closed {
            list.spans.push(span);
        }
        list.spans.len().saturating_sub(1)
    }

    /// Changes a span, if the call is not over.
    pub(crate) fn change(&self, index: usize, change: impl FnOnce(&mut Span)) {
        let mut list = self.seen();
        if !list.closed
            && let Some(span) = list.spans.get_mut(index)
        {
            change(span);
        }
    }

    /// The running call of a tool has failed, as an event with these fields reports. Of several running calls of the tool, it may be any.
    pub(crate) fn fail_tool(&self, event: &Object) {
        let text = |name: &str| event.get(name).and_then(Value::as_str);
        if !text("message").is_some_and(|message| TOOL_FAILED.contains(&message)) {
            return;
        }
        let mut list = self.seen();
        let is_of_tool = |span: &&mut Span| span.ended.is_none() && span.fields.get(TOOL) == event.get(TOOL);
        let mut running = list.spans.iter_mut().filter(is_of_tool);
        if let (Some(span), None) = (running.next(), running.next()) {
            span.fail(event.get("error").cloned().unwrap_or_else(|| "timeout".into()));
        }
    }

    /// All spans; later ones are ignored.
    pub(crate) fn close(&self) -> SeenSpans {
        std::mem::replace(&mut *self.seen(), SeenSpans { closed: true, ..SeenSpans::default() })
    }
}

/// The error of a failed call, by OpenTelemetry's conventions.
pub(crate) const ERROR_TYPE: &str = "error.type";

/// Field of an event at level `ERROR` in the span of a call that failed.
pub(crate) const ERROR_CODE: &str = "error.code";

/// Field with the name of a tool, of its span and of an event that reports its failure.
pub(crate) const TOOL: &str = "tool.name";

/// Texts of the events with which adk-rust reports that a call of a tool has failed, after all attempts.
const TOOL_FAILED: [&str; 2] = ["tool_error", "tool_timeout"];

/// Prefix of the names of OpenTelemetry's conventions for generative AI.
pub(crate) const GEN_AI: &str = "gen_ai.";

/// Attributes that make a span one of interest, apart from those of OpenTelemetry's conventions for generative AI: of OpenInference, OpenLLMetry
/// and OpenTelemetry's conventions for MCP.
const SIGNS: [&str; 3] = ["openinference.span.kind", "traceloop.span.kind", "mcp.method.name"];

/// The name of a span for OpenTelemetry, where `tracing` needs one that is known at compile time.
pub(crate) const OTEL_NAME: &str = "otel.name";

/// Whether a span or event is about generative AI.
pub(crate) fn is_gen_ai(metadata: &Metadata<'_>) -> bool {
    let is_sign = |name: &str| name.starts_with(GEN_AI) || SIGNS.contains(&name);
    metadata.name().starts_with(GEN_AI) || metadata.fields().iter().any(|field| is_sign(field.name()))
}

/// Whether an event may be one of the older conventions, named by a field.
pub(crate) fn has_name(metadata: &Metadata<'_>) -> bool {
    metadata.fields().iter().any(|field| field.name() == "event.name")
}

/// Whether an event may report a failed call by names outside of all conventions, as those of adk-rust do.
pub(crate) fn may_report_failure(metadata: &Metadata<'_>) -> bool {
    let has = |name: &str| metadata.fields().field(name).is_some();
    let of_model = || *metadata.level() == Level::ERROR && has(ERROR_CODE);
    metadata.is_event() && (of_model() || has(TOOL) && (has("error") || has("timeout_secs")))
}

/// Collects fields into an object.
pub(crate) struct FieldCollector<'a>(pub(crate) &'a mut Object);

impl FieldCollector<'_> {
    fn set(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for FieldCollector<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.set(field, format!("{value:?}"));
    }
}
