//! The `tracing` layer that assigns the spans of a program's own subscriber to trials.

use tracing::span::{Attributes, Record};
use tracing::{Dispatch, Event, Id, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::{LookupSpan, SpanRef};

use crate::agents::spans::own_subscriber::entered_position;
use crate::agents::spans::program_subscriber;
use crate::agents::spans::thread_scope::position_on_thread;
use crate::agents::spans::tracked_span::{
    OWN_TARGET, SpanPosition, TrackedSpan, new_fields, recorded_fields, track_event,
};

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
        program_subscriber::is_made(subscriber);
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
