//! The trial that a thread works for, the subscriber that sees its spans, and the calls of agents that run now, to one of which a span
//! without ancestors belongs.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use tokio::task::{self, LocalSet};
use tracing::Span;
use tracing::dispatcher::{self, DefaultGuard};
use tracing::span::EnteredSpan;
use tracing::subscriber::NoSubscriber;

use crate::agents::spans::span_store::{SeenSpans, Spans};
use crate::agents::spans::span_transcript;
use crate::agents::spans::subscriber::{
    self, OwnSubscriber, entered_position, has_layer, hides_spans, is_held, is_own, own_subscriber, program_subscriber,
    subscribers,
};
use crate::agents::spans::tracked_span::{OWN_TARGET, SpanPosition};
use crate::model::agent_report::{self, Captured, MissingSpans};
use crate::platform::async_runtime;

thread_local! {
    static SCOPE: RefCell<Option<Scope>> = const { RefCell::new(None) };
    /// While our subscriber is set for this thread.
    static OURS: RefCell<Option<DefaultGuard>> = const { RefCell::new(None) };
}

/// A thread's work for a trial.
struct Scope {
    /// The span around the call, in our subscriber or the program's.
    span: Option<EnteredSpan>,
    /// The same in the program's subscriber, if the program set it during the call.
    shown: Option<EnteredSpan>,
    /// Whether the program's subscriber knows a span around the call.
    is_shown: bool,
    trace: Trace,
}

/// The spans of one call of an agent, and where they were looked for.
#[derive(Clone)]
pub(crate) struct Trace {
    spans: Arc<Spans>,
    case: Arc<str>,
    trial: u32,
    /// Whether the agent works on threads of evalsuite, as far as is known.
    is_on_our_threads: bool,
    /// Whether a subscriber of the program hid the spans.
    hidden: Arc<AtomicBool>,
    /// Number of subscribers when the call began.
    subscribers: u64,
}

impl Trace {
    /// Before the runtime of evalsuite is started, whose threads see spans.
    pub(crate) fn new(case: &str, trial: u32) -> Self {
        let spans = Arc::default();
        own_subscriber();
        async_runtime::on_thread_start(see_spans_of_thread);
        begin(&spans);
        Self {
            spans,
            case: case.into(),
            trial,
            is_on_our_threads: true,
            hidden: Arc::default(),
            subscribers: subscribers(),
        }
    }

    /// The agent runs on a runtime of the program, whose threads are unknown.
    pub(crate) fn on_unknown_threads(self, is_on_unknown_threads: bool) -> Self {
        Self { is_on_our_threads: !is_on_unknown_threads, ..self }
    }

    /// Does the work of a trial on this thread.
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        let _leave = Leave;
        SCOPE.replace(Some(Scope { span: None, shown: None, is_shown: false, trace: self.clone() }));
        see_spans_of_thread();
        self.hidden.fetch_or(
            dispatcher::get_default(|current| !current.is::<OwnSubscriber>() && !has_layer(current)),
            Ordering::SeqCst,
        );
        // Outside of a borrow of the scope: subscribers of the program are asked.
        let span = self.span().entered();
        SCOPE.with_borrow_mut(|scope| {
            if let Some(scope) = scope {
                scope.is_shown = !span.id().is_some_and(|id| is_own(&id));
                scope.span = Some(span);
            }
        });
        work()
    }

    /// The span around the call: spans made within it, on whatever thread, belong to the trial.
    fn span(&self) -> Span {
        tracing::info_span!(target: OWN_TARGET, "trial", case = &*self.case, trial = self.trial)
    }

    /// Why the program could not set its subscriber, if that is what this panic of the agent says.
    pub(crate) fn panic_cause(panic: &str) -> Option<&'static str> {
        let is_set_twice = panic.contains("a global default trace dispatcher has already been set");
        (is_set_twice && subscriber::is_ours()).then_some(
            "; an agent made spans before that on threads of its own, so evalsuite set a subscriber for all threads: \
             every agent of the program has to set the program's subscriber before its first span",
        )
    }

    /// Must not be called within a subscriber.
    #[allow(clippy::unused_self, reason = "the call that is polled on this thread")]
    pub(crate) fn before_poll(&self) {
        step_aside();
    }

    /// The transcript of the spans so far; later spans are ignored.
    pub(crate) fn take(&self) -> Captured {
        end_call(&self.spans);
        let SeenSpans { spans, unassigned, outside, others, .. } = self.spans.close();
        let names = |set: BTreeSet<&'static str>| set.into_iter().collect::<Vec<_>>();
        let mut captured = span_transcript::assemble(spans);
        captured.missing = if self.hidden.load(Ordering::SeqCst) || hides_spans() {
            Some(MissingSpans::hidden())
        } else if !unassigned.is_empty() {
            Some(MissingSpans::unassigned(&unassigned.into_values().collect::<Vec<_>>()))
        } else {
            // That the calls of this trial are not shown says more.
            captured.missing.or_else(|| (!outside.is_empty()).then(|| MissingSpans::outside(&names(outside))))
        };
        captured.seen = Some(agent_report::seen(&names(others), subscribers() > self.subscribers));
        captured
    }
}

/// Sets our subscriber for this thread, if it has none. A subscriber of the program is not replaced, because its output is in use.
fn see_spans_of_thread() {
    if dispatcher::get_default(|current| current.is::<NoSubscriber>()) {
        OURS.set(Some(dispatcher::set_default(own_subscriber())));
    }
}

/// Spans are seen on this thread. If it is not one of ours, spans are on other threads too, on which only a subscriber for all threads sees
/// them.
pub(crate) fn see_this_thread() {
    let is_ours = OURS.try_with(|ours| ours.try_borrow().map_or(true, |ours| ours.is_some())).unwrap_or(true);
    let is_known = SCOPE.try_with(|scope| {
        let Ok(scope) = scope.try_borrow() else { return true };
        scope.as_ref().is_none_or(|scope| scope.trace.is_on_our_threads || Handle::try_current().is_err())
    });
    if !(is_ours && is_known.unwrap_or(true)) {
        subscriber::set_ours(own_subscriber());
    }
}

/// Leaves this thread to the program's subscriber, unless the program holds spans of ours: it may name them as parents of new
/// spans, which its subscriber cannot know. Until then, our subscriber passes on what is the program's. Must not be called
/// while `tracing` asks the current subscriber.
pub(crate) fn step_aside() {
    let is_current = || dispatcher::get_default(|current| current.is::<OwnSubscriber>());
    let is_ours = OURS.try_with(|ours| ours.try_borrow().is_ok_and(|ours| ours.is_some())).unwrap_or(false);
    if is_ours && is_current() && program_subscriber().is_some() && !is_held() {
        show_trial_to_program();
        let ours = OURS.try_with(RefCell::take);
        drop(ours);
    }
}

/// Makes the span around the call in a subscriber that the program has set during the call.
pub(crate) fn show_trial_to_program() {
    let trace = SCOPE.try_with(|scope| {
        let mut scope = scope.try_borrow_mut().ok()?;
        let scope = scope.as_mut().filter(|scope| !scope.is_shown && scope.span.is_some())?;
        scope.is_shown = true;
        Some(scope.trace.clone())
    });
    let Ok(Some(trace)) = trace else { return };
    let span = subscriber::span_of_program(|| trace.span()).map(Span::entered);
    SCOPE.with_borrow_mut(|scope| {
        if let Some(scope) = scope {
            scope.shown = span;
        }
    });
}

/// The spans to which this thread adds.
pub(crate) fn thread_position() -> Option<SpanPosition> {
    // A span can be made while the thread ends, or while the scope changes.
    let spans = SCOPE.try_with(|scope| Some(Arc::clone(&scope.try_borrow().ok()?.as_ref()?.trace.spans))).ok()?;
    spans.map(SpanPosition::first_of)
}

/// Where a span of the program's subscriber without parent belongs: to the span of ours that this thread has entered, else to the call
/// that this thread works for.
pub(crate) fn position_on_thread() -> Option<SpanPosition> {
    entered_position().or_else(thread_position)
}

/// Ends a thread's work for a trial, also when it panics.
struct Leave;

impl Drop for Leave {
    fn drop(&mut self) {
        // Dropped outside of the borrow, because the end of the span may use the scope.
        if let Some(Scope { span, shown, .. }) = SCOPE.take() {
            drop(shown);
            drop(span);
        }
        drop(OURS.take());
    }
}

static CALLS: Mutex<Vec<RunningCall>> = Mutex::new(Vec::new());

struct RunningCall {
    spans: Arc<Spans>,
    /// A task from before the call. Tokio numbers tasks in the order they are spawned, in all runtimes of a process; its
    /// documentation does not promise it, so a test does.
    before: task::Id,
}

fn calls() -> MutexGuard<'static, Vec<RunningCall>> {
    CALLS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The id of a task that is spawned now.
fn new_task() -> task::Id {
    LocalSet::new().spawn_local(async {}).id()
}

pub(crate) fn begin(spans: &Arc<Spans>) {
    calls().push(RunningCall { spans: Arc::clone(spans), before: new_task() });
}

fn end_call(spans: &Arc<Spans>) {
    calls().retain(|call| !Arc::ptr_eq(&call.spans, spans));
}

/// The calls that may have made the current span. A task that is older than a call was not spawned by it.
pub(crate) fn candidates(span: &'static str) -> Vec<Arc<Spans>> {
    let task = task::try_id();
    let is_possible = |call: &&RunningCall| task.is_none_or(|task| task > call.before);
    let possible: Vec<_> = calls().iter().filter(is_possible).map(|call| Arc::clone(&call.spans)).collect();
    if possible.is_empty() {
        add_outside(span);
    }
    possible
}

/// A span of something from before the running calls, such as a task that an earlier trial left behind. It belongs to none of
/// them, but they know of it.
pub(crate) fn add_outside(span: &'static str) {
    for call in calls().iter() {
        call.spans.seen().outside.insert(span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokio_numbers_tasks_in_the_order_they_are_spawned() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        let mut ids = vec![new_task()];
        for _ in 0..50 {
            ids.push(runtime.spawn(async {}).id());
            ids.push(std::thread::spawn(new_task).join().unwrap());
        }
        assert!(ids.is_sorted(), "{ids:?}");
    }
}
