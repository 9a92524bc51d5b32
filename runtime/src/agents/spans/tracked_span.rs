//! The trial that a span belongs to, whichever subscriber keeps the span: evalsuite's own, or that of the program, by a layer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use evalsuite_schema::Object;
use tracing::span::{Attributes, Record};
use tracing::{Dispatch, Event, Id, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::{LookupSpan, SpanRef};

use crate::agents::spans::span_store::{self, Spans};
use crate::agents::spans::span_store::{
    ERROR_CODE, FieldCollector, GEN_AI, TOOL, has_name, is_gen_ai, may_report_failure,
};
use crate::agents::spans::subscriber::{self, entered_position};
use crate::agents::spans::thread_scope::{self, candidates, position_on_thread};
use crate::platform::clock::Stopwatch;

/// Target of the span around a call.
pub(crate) const OWN_TARGET: &str = "evalsuite";

/// The position of a span among the spans of a call.
#[derive(Clone)]
pub(crate) struct SpanPosition {
    spans: Arc<Spans>,
    /// Index of the span itself or of its nearest ancestor that is of interest.
    nearest: Option<usize>,
    /// Whether the span itself is of interest.
    own: bool,
}

impl SpanPosition {
    /// Of a span without ancestors that this call has made.
    pub(crate) fn first_of(spans: Arc<Spans>) -> Self {
        Self { spans, nearest: None, own: false }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.spans.is_open()
    }
}

/// A span of interest that may belong to several calls, until something that belongs to one of them enters it.
struct UnassignedSpan {
    number: u64,
    candidates: Vec<Arc<Spans>>,
    fields: Object,
}

impl UnassignedSpan {
    fn new(name: &'static str, fields: Object, candidates: Vec<Arc<Spans>>) -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        for spans in &candidates {
            spans.seen().unassigned.insert(number, name);
        }
        Self { number, candidates, fields }
    }
}

/// What a subscriber keeps with a span.
pub(crate) struct TrackedSpan {
    metadata: &'static Metadata<'static>,
    position: Option<SpanPosition>,
    unassigned: Option<UnassignedSpan>,
}

impl TrackedSpan {
    /// A new span with the position of its parent. `fields` are those of [`new_fields`]; `on_thread` is the position of a span without
    /// parent that this thread makes.
    pub(crate) fn new(
        metadata: &'static Metadata<'static>,
        fields: Option<Object>,
        parent: Option<SpanPosition>,
        on_thread: impl FnOnce() -> Option<SpanPosition>,
    ) -> Self {
        let mut span = Self { metadata, position: None, unassigned: None };
        let is_of_earlier_call = parent.as_ref().is_some_and(|position| !position.is_open());
        match (parent.filter(|_| !is_of_earlier_call).or_else(on_thread), fields) {
            (Some(position), fields) => {
                if fields.is_none() && metadata.target() != OWN_TARGET {
                    position.spans.seen().others.insert(metadata.name());
                }
                span.place(position, fields);
            }
            (None, Some(_)) if is_of_earlier_call => thread_scope::add_outside(metadata.name()),
            (None, Some(fields)) => match candidates(metadata.name()).as_slice() {
                [] => {}
                [call] => span.place(SpanPosition::first_of(Arc::clone(call)), Some(fields)),
                calls => span.unassigned = Some(UnassignedSpan::new(metadata.name(), fields, calls.to_vec())),
            },
            // Its descendants, or who enters it, tell where it belongs.
            (None, None) => {}
        }
        span
    }

    pub(crate) fn position(&self) -> Option<SpanPosition> {
        self.position.clone()
    }

    /// Adds the span to the spans of the call that another position belongs to.
    fn place(&mut self, mut position: SpanPosition, fields: Option<Object>) {
        position.own = fields.is_some();
        if let Some(fields) = fields {
            position.nearest = Some(position.spans.add(self.metadata.name(), fields, position.nearest));
        }
        self.position = Some(position);
    }

    /// Assigns the span if it has no call yet.
    pub(crate) fn adopt(&mut self, position: impl FnOnce() -> Option<SpanPosition>) {
        if self.position.is_some() {
            return;
        }
        let Some(position) = position() else { return };
        let fields = self.unassigned.take().map(|unassigned| {
            for spans in &unassigned.candidates {
                spans.seen().unassigned.remove(&unassigned.number);
            }
            unassigned.fields
        });
        if fields.is_some() || !is_gen_ai(self.metadata) {
            self.place(position, fields);
        }
    }

    pub(crate) fn record(&mut self, fields: Object) {
        if let Some(SpanPosition { spans, nearest: Some(index), own: true }) = &self.position {
            spans.change(*index, |span| span.fields.extend(fields));
        } else if let Some(unassigned) = &mut self.unassigned {
            unassigned.fields.extend(fields);
        }
    }

    pub(crate) fn close(&self) {
        if let Some(SpanPosition { spans, nearest: Some(index), own: true }) = &self.position {
            spans.change(*index, |span| span.ended = Some(Stopwatch::start()));
        }
    }
}

/// The fields of a new span of interest. Values are formatted by code of the program, which may use spans: nothing may be locked.
pub(crate) fn new_fields(attributes: &Attributes<'_>) -> Option<Object> {
    is_gen_ai(attributes.metadata()).then(|| {
        let mut fields = Object::new();
        attributes.record(&mut FieldCollector(&mut fields));
        fields
    })
}

/// Fields that are added to a span, see [`new_fields`].
pub(crate) fn recorded_fields(values: &Record<'_>) -> Object {
    let mut fields = Object::new();
    values.record(&mut FieldCollector(&mut fields));
    fields
}

/// Adds an event. `around` is the position of the span that it is in, `on_thread` that of an event of this thread in no span.
pub(crate) fn track_event(
    event: &Event<'_>,
    around: impl FnOnce() -> Option<SpanPosition>,
    on_thread: impl FnOnce() -> Option<SpanPosition>,
) {
    let metadata = event.metadata();
    let is_named = is_gen_ai(metadata) || has_name(metadata);
    if !is_named && !may_report_failure(metadata) {
        return;
    }
    let mut fields = Object::new();
    event.record(&mut FieldCollector(&mut fields));
    if !is_named {
        if let Some(position) = around().filter(SpanPosition::is_open).or_else(on_thread) {
            track_failure(&position, &fields);
        }
        return;
    }
    let named = fields.get("event.name").and_then(|name| name.as_str()).unwrap_or(metadata.name()).to_owned();
    match around().filter(SpanPosition::is_open).or_else(on_thread) {
        Some(SpanPosition { spans, nearest: Some(index), .. }) => spans.change(index, |span| {
            if named.starts_with(GEN_AI) {
                span.events.push(span_store::Event { name: named, fields });
            } else {
                fields.retain(|name, _| name.starts_with(GEN_AI));
                span.fields.extend(fields);
            }
        }),
        Some(SpanPosition { spans, .. }) => add_event_without_span(&spans, named, fields),
        None if !is_gen_ai(metadata) => {}
        None => match candidates(metadata.name()).as_slice() {
            [] => {}
            [call] => add_event_without_span(call, named, fields),
            calls => drop(UnassignedSpan::new(metadata.name(), fields, calls.to_vec())),
        },
    }
}

/// Marks the call as failed that an event reports: that of the span around it, or that of a tool.
fn track_failure(position: &SpanPosition, event: &Object) {
    if event.contains_key(TOOL) {
        position.spans.fail_tool(event);
    } else if let (SpanPosition { spans, nearest: Some(index), own: true }, Some(code)) =
        (position, event.get(ERROR_CODE).cloned())
    {
        spans.change(*index, |span| {
            span.fail(code.clone());
            // The provider had begun to answer, so that tokens were used.
            span.fields.get_or_insert("gen_ai.response.error", code);
        });
    }
}

/// Adds an event outside of spans of interest, as a span that ended at once.
fn add_event_without_span(spans: &Spans, name: String, fields: Object) {
    let index = spans.add("", fields.clone(), None);
    spans.change(index, |span| span.events.push(span_store::Event { name, fields }));
}

/// The layer that makes transcripts from spans, for programs with their own subscriber.
///
/// If the program sets no global subscriber, spans are captured without it. A program that sets one adds this layer:
///
/// ```
/// use tracing_subscriber::prelude::*;
///
/// let subscriber = tracing_subscriber::registry().with(evalsuite::capture_layer());
/// # drop(subscriber);
/// ```
///
/// Filters of the whole subscriber also hide spans from this layer: set filters on the output layer.
pub fn capture_layer() -> CaptureLayer {
    CaptureLayer { _private: () }
}

/// See [`capture_layer`].
///
/// ```
/// use tracing_subscriber::prelude::*;
///
/// let layer: evalsuite::CaptureLayer = evalsuite::capture_layer();
/// let subscriber = tracing_subscriber::registry().with(layer);
/// # drop(subscriber);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CaptureLayer {
    _private: (),
}

fn position_of<'a, S: LookupSpan<'a>>(span: &SpanRef<'a, S>) -> Option<SpanPosition> {
    span.extensions().get::<TrackedSpan>().and_then(TrackedSpan::position)
}

fn change<'a, S: LookupSpan<'a>>(span: &SpanRef<'a, S>, change: impl FnOnce(&mut TrackedSpan)) {
    if let Some(tracked) = span.extensions_mut().get_mut::<TrackedSpan>() {
        change(tracked);
    }
}

impl<S> Layer<S> for CaptureLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_register_dispatch(&self, subscriber: &Dispatch) {
        subscriber::is_made(subscriber);
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        // A second layer of this type in the same subscriber has nothing to do.
        if span.extensions().get::<TrackedSpan>().is_some() {
            return;
        }
        let parent = span.parent().and_then(|parent| match parent.metadata().target() {
            // The program has set this subscriber within a span of ours.
            OWN_TARGET => entered_position().or_else(|| position_of(&parent)),
            _ => position_of(&parent),
        });
        let tracked = TrackedSpan::new(attributes.metadata(), new_fields(attributes), parent, position_on_thread);
        span.extensions_mut().replace(tracked);
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            change(&span, |tracked| tracked.adopt(position_on_thread));
        }
    }

    fn on_follows_from(&self, id: &Id, follows: &Id, context: Context<'_, S>) {
        if let (Some(span), Some(follows)) = (context.span(id), context.span(follows)) {
            let position = position_of(&follows);
            change(&span, |tracked| tracked.adopt(|| position));
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let fields = recorded_fields(values);
        change(&span, |tracked| tracked.record(fields));
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        track_event(event, || context.event_span(event).and_then(|span| position_of(&span)), position_on_thread);
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        if let Some(span) = context.span(&id) {
            change(&span, |tracked| tracked.close());
        }
    }
}
