//! The `tracing` layer that assigns spans to trials.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use evalsuite_schema::Object;
use tracing::span::{Attributes, Record};
use tracing::{Event, Id, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::{LookupSpan, SpanRef};

use crate::agents::spans::running_calls::{self, candidates};
use crate::agents::spans::span_fields::{FieldCollector, GEN_AI, has_name, is_gen_ai};
use crate::agents::spans::span_store::{self, SpanTime, Spans};
use crate::agents::spans::thread_scope::thread_spans;

/// Target of the span around a call.
pub(crate) const OWN_TARGET: &str = "evalsuite";

/// Grows with every subscriber that is made.
static SUBSCRIBERS: AtomicU64 = AtomicU64::new(0);

pub(crate) fn subscribers() -> u64 {
    SUBSCRIBERS.load(Ordering::SeqCst)
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

/// The position of a span among the spans of a call.
#[derive(Clone)]
struct SpanPosition {
    spans: Arc<Spans>,
    /// Index of the span itself or of its nearest ancestor that is of interest.
    nearest: Option<usize>,
    /// Whether the span itself is of interest.
    own: bool,
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

fn position_of<'a, S: LookupSpan<'a>>(span: &SpanRef<'a, S>) -> Option<SpanPosition> {
    span.extensions().get::<SpanPosition>().cloned()
}

/// Where a new span without ancestors belongs: to the call that its thread works for, which no other call does.
fn position_on_thread() -> Option<SpanPosition> {
    thread_spans().map(|spans| SpanPosition { spans, nearest: None, own: false })
}

/// Adds a span to the spans of the call that another position belongs to.
fn place<'a, S: LookupSpan<'a>>(span: &SpanRef<'a, S>, mut position: SpanPosition, fields: Option<Object>) {
    position.own = fields.is_some();
    if let Some(fields) = fields {
        position.nearest = Some(position.spans.add(span.name(), fields, position.nearest));
    }
    span.extensions_mut().insert(position);
}

/// Assigns a span that has no call yet.
fn adopt<'a, S: LookupSpan<'a>>(span: &SpanRef<'a, S>, position: impl FnOnce() -> Option<SpanPosition>) {
    if position_of(span).is_some() {
        return;
    }
    let Some(position) = position() else { return };
    let unassigned = span.extensions_mut().remove::<UnassignedSpan>();
    let fields = unassigned.map(|unassigned| {
        for spans in &unassigned.candidates {
            spans.seen().unassigned.remove(&unassigned.number);
        }
        unassigned.fields
    });
    if fields.is_some() || !is_gen_ai(span.metadata()) {
        place(span, position, fields);
    }
}

impl<S> Layer<S> for CaptureLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let fields = is_gen_ai(attributes.metadata()).then(|| {
            let mut fields = Object::new();
            attributes.record(&mut FieldCollector { into: &mut fields, all: false });
            fields
        });
        let parent = span.parent().and_then(|parent| position_of(&parent));
        let is_of_earlier_call = parent.as_ref().is_some_and(|position| !position.spans.is_open());
        match (parent.filter(|_| !is_of_earlier_call).or_else(position_on_thread), fields) {
            (Some(position), fields) => {
                if fields.is_none() && attributes.metadata().target() != OWN_TARGET {
                    position.spans.seen().others.insert(span.name());
                }
                place(&span, position, fields);
            }
            (None, Some(_)) if is_of_earlier_call => running_calls::add_outside(span.name()),
            (None, Some(fields)) => match candidates(span.name()).as_slice() {
                [] => {}
                [call] => {
                    let position = SpanPosition { spans: Arc::clone(call), nearest: None, own: false };
                    place(&span, position, Some(fields));
                }
                calls => {
                    let unassigned = UnassignedSpan::new(span.name(), fields, calls.to_vec());
                    span.extensions_mut().insert(unassigned);
                }
            },
            // Its descendants, or who enters it, tell where it belongs.
            (None, None) => {}
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            adopt(&span, position_on_thread);
        }
    }

    fn on_follows_from(&self, id: &Id, follows: &Id, context: Context<'_, S>) {
        if let (Some(span), Some(follows)) = (context.span(id), context.span(follows)) {
            adopt(&span, || position_of(&follows));
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Object::new();
        values.record(&mut FieldCollector { into: &mut fields, all: false });
        if let Some(SpanPosition { spans, nearest: Some(index), own: true }) = position_of(&span) {
            spans.change(index, |span| span.fields.extend(fields));
        } else if let Some(unassigned) = span.extensions_mut().get_mut::<UnassignedSpan>() {
            unassigned.fields.extend(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        if !is_gen_ai(metadata) && !has_name(metadata) {
            return;
        }
        let mut fields = Object::new();
        event.record(&mut FieldCollector { into: &mut fields, all: true });
        let named = fields.get("event.name").and_then(|name| name.as_str()).unwrap_or(metadata.name()).to_owned();
        let around =
            context.event_span(event).and_then(|span| position_of(&span)).filter(|around| around.spans.is_open());
        match around.or_else(position_on_thread) {
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

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        if let Some(SpanPosition { spans, nearest: Some(index), own: true }) =
            context.span(&id).and_then(|span| position_of(&span))
        {
            spans.change(index, |span| span.ended = Some(SpanTime::now()));
        }
    }
}

/// Adds an event outside of spans of interest, as a span that ended at once.
fn add_event_without_span(spans: &Spans, name: String, fields: Object) {
    let index = spans.add("", fields.clone(), None);
    spans.change(index, |span| span.events.push(span_store::Event { name, fields }));
}

/// Filter of our own subscriber: passes only the spans and events that are needed.
pub(crate) struct NeededSpans;

impl<S: Subscriber> Layer<S> for NeededSpans {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        // Other spans are needed too: their descendants on other threads belong to the trial.
        is_gen_ai(metadata)
            || metadata.is_span() && *metadata.level() <= Level::INFO
            || metadata.is_event() && has_name(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        // Called whenever a subscriber is made.
        SUBSCRIBERS.fetch_add(1, Ordering::SeqCst);
        Some(LevelFilter::TRACE)
    }
}
