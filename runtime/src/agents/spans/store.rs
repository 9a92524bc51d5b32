//! The spans of one call of an agent.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use evalsuite_schema::Object;

use crate::platform::clock::timestamp;

/// Spans in the order they began.
#[derive(Debug, Default)]
pub(crate) struct Spans(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    spans: Vec<Span>,
    /// The call is over; what comes now comes too late.
    closed: bool,
}

#[derive(Debug)]
pub(crate) struct Span {
    pub(crate) name: &'static str,
    pub(crate) fields: Object,
    /// The nearest span around it that is one of these.
    pub(crate) parent: Option<usize>,
    pub(crate) events: Vec<Event>,
    pub(crate) began: Moment,
    pub(crate) ended: Option<Moment>,
}

#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) fields: Object,
}

#[derive(Debug, Clone)]
pub(crate) struct Moment {
    pub(crate) text: String,
    pub(crate) clock: Instant,
}

impl Moment {
    pub(crate) fn now() -> Self {
        Self { text: timestamp(), clock: Instant::now() }
    }
}

impl Spans {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.state().closed
    }

    pub(crate) fn add(&self, name: &'static str, fields: Object, parent: Option<usize>) -> usize {
        let mut state = self.state();
        let span = Span { name, fields, parent, events: Vec::new(), began: Moment::now(), ended: None };
        if !state.closed {
            state.spans.push(span);
        }
        state.spans.len().saturating_sub(1)
    }

    /// Changes a span, if the call is not over.
    pub(crate) fn change(&self, index: usize, change: impl FnOnce(&mut Span)) {
        let mut state = self.state();
        if !state.closed
            && let Some(span) = state.spans.get_mut(index)
        {
            change(span);
        }
    }

    /// All spans; further ones come too late.
    pub(crate) fn close(&self) -> Vec<Span> {
        let mut state = self.state();
        state.closed = true;
        std::mem::take(&mut state.spans)
    }
}
