use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use evalsuite_schema::Object;
use tracing::{
    Event, Id, Level, Metadata, Subscriber,
    span::{Attributes, Record},
};
use tracing_subscriber::{
    Layer,
    filter::LevelFilter,
    layer::Context,
    registry::{LookupSpan, SpanRef},
};

use crate::agents::spans::{
    fields::{Collect, GEN_AI, has_name, is_gen_ai},
    scope,
    store::{self, Moment, Spans},
};

/// Spans of calls that belong to no trial, since the process began.
static LOST: AtomicU64 = AtomicU64::new(0);

/// Number of subscribers that were made since the process began, roughly: it grows with each.
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

/// What a span knows of the call it belongs to.
#[derive(Clone)]
struct Place {
    spans: Arc<Spans>,
    /// Itself or the nearest span around it that is of interest.
    nearest: Option<usize>,
    /// It is of interest itself.
    own: bool,
}

fn place_of<'a, S: LookupSpan<'a>>(span: &SpanRef<'a, S>) -> Option<Place> {
    span.extensions().get::<Place>().cloned()
}

impl<S> Layer<S> for CaptureLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let around = span.parent().and_then(|parent| place_of(&parent)).filter(|place| place.spans.is_open());
        let of_thread = || scope::spans().map(|spans| Place { spans, nearest: None, own: false });
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
            attributes.record(&mut Collect { into: &mut fields, all: false });
            place.nearest = Some(place.spans.add(attributes.metadata().name(), fields, place.nearest));
        }
        span.extensions_mut().insert(place);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(Place { spans, nearest: Some(index), own: true }) = context.span(id).and_then(|span| place_of(&span))
        else {
            return;
        };
        let mut fields = Object::new();
        values.record(&mut Collect { into: &mut fields, all: false });
        spans.change(index, |span| span.fields.extend(fields));
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        if !is_gen_ai(metadata) && !has_name(metadata) {
            return;
        }
        let mut fields = Object::new();
        event.record(&mut Collect { into: &mut fields, all: true });
        let named = fields.get("event.name").and_then(|name| name.as_str()).unwrap_or(metadata.name()).to_owned();
        let around = context.event_span(event).and_then(|span| place_of(&span));
        match around {
            Some(Place { spans, nearest: Some(index), .. }) => spans.change(index, |span| {
                if named.starts_with(GEN_AI) {
                    span.events.push(store::Event { name: named, fields });
                } else {
                    fields.retain(|name, _| name.starts_with(GEN_AI));
                    span.fields.extend(fields);
                }
            }),
            Some(Place { spans, .. }) => alone(&spans, named, fields),
            None => match scope::spans() {
                Some(spans) => alone(&spans, named, fields),
                None => _ = LOST.fetch_add(1, Ordering::Relaxed),
            },
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        if let Some(Place { spans, nearest: Some(index), own: true }) =
            context.span(&id).and_then(|span| place_of(&span))
        {
            spans.change(index, |span| span.ended = Some(Moment::now()));
        }
    }
}

/// An event without a span of interest around it is like a span that ended at once.
fn alone(spans: &Spans, name: String, fields: Object) {
    let index = spans.add("", fields.clone(), None);
    spans.change(index, |span| span.events.push(store::Event { name, fields }));
}

/// For the subscriber that is there where the program has none: lets through what is needed, and nothing else.
pub(crate) struct Interest;

impl<S: Subscriber> Layer<S> for Interest {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        // Other spans carry the trial to the threads they are sent to.
        is_gen_ai(metadata)
            || metadata.is_span() && *metadata.level() <= Level::INFO
            || metadata.is_event() && has_name(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        // It is asked whenever a subscriber is made.
        SUBSCRIBERS.fetch_add(1, Ordering::SeqCst);
        Some(LevelFilter::TRACE)
    }
}
