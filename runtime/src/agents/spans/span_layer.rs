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

use crate::agents::spans::span_fields::{FieldCollector, GEN_AI, has_name, is_gen_ai};
use crate::agents::spans::span_store;
use crate::agents::spans::span_store::{SpanTime, Spans};
use crate::agents::spans::thread_spans::thread_spans;

/// Number of spans of model and tool calls that belong to no trial, since the process started.
static LOST: AtomicU64 = AtomicU64::new(0);

/// Grows with every subscriber that is made.
static SUBSCRIBERS: AtomicU64 = AtomicU64::new(0);

pub(crate) fn lost() -> u64 {
    LOST.load(Ordering::Relaxed)
}

pub(crate) fn subscribers() -> u64 {
    SUBSCRIBERS.load(Ordering::SeqCst)
}

/// The layer that makes transcripts from spans, for programs with a subscriber of their own.
///
/// Where no global subscriber is set, trials see spans without it. A program that sets one adds this layer:
///
/// ```
/// use tracing_subscriber::prelude::*;
///
/// let subscriber = tracing_subscriber::registry().with(evalsuite::capture_layer());
/// # drop(subscriber);
/// ```
///
/// Filters of the whole subscriber also hide spans from it, so those of an output should be set on the layer of that output.
pub fn capture_layer() -> CaptureLayer {
    CaptureLayer { _private: () }
}

/// See [`capture_layer`].
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

fn position_of<'a, S: LookupSpan<'a>>(span: &SpanRef<'a, S>) -> Option<SpanPosition> {
    span.extensions().get::<SpanPosition>().cloned()
}

impl<S> Layer<S> for CaptureLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let around = span.parent().and_then(|parent| position_of(&parent)).filter(|place| place.spans.is_open());
        let of_thread = || thread_spans().map(|spans| SpanPosition { spans, nearest: None, own: false });
        let of_interest = is_gen_ai(attributes.metadata());
        let Some(mut place) = around.or_else(of_thread) else {
            if of_interest {
                LOST.fetch_add(1, Ordering::Relaxed);
            }
            return;
        };
        place.own = of_interest;
        if of_interest {
            let mut fields = Object::new();
            attributes.record(&mut FieldCollector { into: &mut fields, all: false });
            place.nearest = Some(place.spans.add(attributes.metadata().name(), fields, place.nearest));
        }
        span.extensions_mut().insert(place);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(SpanPosition { spans, nearest: Some(index), own: true }) =
            context.span(id).and_then(|span| position_of(&span))
        else {
            return;
        };
        let mut fields = Object::new();
        values.record(&mut FieldCollector { into: &mut fields, all: false });
        spans.change(index, |span| span.fields.extend(fields));
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        if !is_gen_ai(metadata) && !has_name(metadata) {
            return;
        }
        let mut fields = Object::new();
        event.record(&mut FieldCollector { into: &mut fields, all: true });
        let named = fields.get("event.name").and_then(|name| name.as_str()).unwrap_or(metadata.name()).to_owned();
        let around = context.event_span(event).and_then(|span| position_of(&span));
        match around {
            Some(SpanPosition { spans, nearest: Some(index), .. }) => spans.change(index, |span| {
                if named.starts_with(GEN_AI) {
                    span.events.push(span_store::Event { name: named, fields });
                } else {
                    fields.retain(|name, _| name.starts_with(GEN_AI));
                    span.fields.extend(fields);
                }
            }),
            Some(SpanPosition { spans, .. }) => add_event_without_span(&spans, named, fields),
            None => match thread_spans() {
                Some(spans) => add_event_without_span(&spans, named, fields),
                None => _ = LOST.fetch_add(1, Ordering::Relaxed),
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

/// Filter of the subscriber that is installed where the program has none: passes only the spans and events that are needed.
pub(crate) struct Interest;

impl<S: Subscriber> Layer<S> for Interest {
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
