//! The spans of one call of an agent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use evalsuite_schema::Object;

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

    /// All spans; later ones are ignored.
    pub(crate) fn close(&self) -> SeenSpans {
        std::mem::replace(&mut *self.seen(), SeenSpans { closed: true, ..SeenSpans::default() })
    }
}
