//! evalsuite's own subscriber, for threads whose program has none.
//!
//! A program may set its subscriber at any time, also while an agent runs, so spans of both meet on a thread. The registry of
//! `tracing-subscriber` does not allow that: it closes the parent of a span in the subscriber that is current, which may know another
//! span by this number, or none. This subscriber therefore keeps its spans itself, lives as long as the process, and is transparent:
//! everything that is not about its own spans goes to the program's subscriber, which would be current without evalsuite.
//!
//! The subscriber that the program sets for all its threads, which it may do at any time.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tracing::dispatcher::{self, WeakDispatch};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, NoSubscriber};
use tracing::{Dispatch, Event, Level, Metadata, Span, Subscriber};
use tracing_core::span::Current;
use tracing_subscriber::filter::LevelFilter;

use crate::agents::spans::span_store::{has_name, is_gen_ai, may_report_failure};
use crate::agents::spans::thread_scope::{self, thread_position};
use crate::agents::spans::tracked_span::{
    CaptureLayer, OWN_TARGET, SpanPosition, TrackedSpan, new_fields, recorded_fields, track_event,
};

/// Ids are multiples of this, modulo 2^64, so that they are not those of another subscriber.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
const INVERSE: u64 = 0xf1de_83e1_9937_733d;
const _: () = assert!(STEP.wrapping_mul(INVERSE) == 1);

/// Number of the last span.
static LAST: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Spans that this thread has entered, the innermost one last.
    static ENTERED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

#[derive(Default)]
pub(crate) struct OwnSubscriber {
    spans: Mutex<HashMap<u64, OwnSpan>>,
}

struct OwnSpan {
    metadata: &'static Metadata<'static>,
    parent: Option<u64>,
    references: usize,
    tracked: TrackedSpan,
}

/// evalsuite's own subscriber.
///
/// It is set for the threads of calls and of evalsuite's runtime. Just before the first span of a model or tool on another thread, it is set
/// for all threads: then a program that has its own subscriber has set it. Earlier spans on threads without a subscriber are
/// not visible. Nor is a span that another thread makes at that moment from the same line: while `tracing` registers it, it asks
/// only the subscriber of the current thread.
pub(crate) fn own_subscriber() -> &'static Dispatch {
    static OWN: OnceLock<Dispatch> = OnceLock::new();
    // `tracing` asks all subscribers about a span that is made for the first time, but where there is only one, it asks that of
    // the current thread. So there are two.
    static WATCHER: OnceLock<Dispatch> = OnceLock::new();
    let own = OWN.get_or_init(|| Dispatch::new(OwnSubscriber::default()));
    WATCHER.get_or_init(|| Dispatch::new(FirstSpan));
    own
}

fn number_of(id: &Id) -> Option<u64> {
    let number = id.into_u64().wrapping_mul(INVERSE);
    (number <= LAST.load(Ordering::SeqCst)).then_some(number)
}

/// Whether this is the id of a span of ours.
pub(crate) fn is_own(id: &Id) -> bool {
    number_of(id).is_some()
}

fn id_of(number: u64) -> Id {
    Id::from_u64(number.wrapping_mul(STEP))
}

/// Position of the innermost of our spans that this thread has entered.
pub(crate) fn entered_position() -> Option<SpanPosition> {
    let number = ENTERED.try_with(|entered| entered.try_borrow().ok()?.last().copied()).ok()??;
    let own = own_subscriber().downcast_ref::<OwnSubscriber>()?;
    own.spans().get(&number).and_then(|span| span.tracked.position()).filter(SpanPosition::is_open)
}

/// Whether the program holds spans of ours.
pub(crate) fn is_held() -> bool {
    let Some(own) = own_subscriber().downcast_ref::<OwnSubscriber>() else { return false };
    own.spans().values().any(|span| span.metadata.target() != OWN_TARGET || span.references > 1)
}

impl OwnSubscriber {
    /// Number of subscribers that were made when ours and the one that watches were.
    pub(crate) const MADE: u64 = 2;

    fn spans(&self) -> MutexGuard<'_, HashMap<u64, OwnSpan>> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes a span of ours. Code of the program must not run meanwhile.
    fn change<T>(&self, number: u64, change: impl FnOnce(&mut OwnSpan) -> T) -> Option<T> {
        self.spans().get_mut(&number).map(change)
    }

    fn position_of(&self, number: u64) -> Option<SpanPosition> {
        self.spans().get(&number).and_then(|span| span.tracked.position())
    }

    /// The innermost span that this thread has entered and that is not closed.
    fn innermost(&self) -> Option<(u64, &'static Metadata<'static>)> {
        let number = ENTERED.try_with(|entered| entered.try_borrow().ok()?.last().copied()).ok()??;
        self.change(number, |span| (number, span.metadata))
    }

    /// Drops a reference to a span, and those that it holds.
    fn release(&self, number: u64) -> bool {
        let mut spans = self.spans();
        let mut is_closed = false;
        let mut next = Some(number);
        while let Some(number) = next.take() {
            let Some(span) = spans.get_mut(&number) else { break };
            span.references -= 1;
            if span.references == 0
                && let Some(span) = spans.remove(&number)
            {
                span.tracked.close();
                is_closed = true;
                next = span.parent;
            }
        }
        is_closed
    }
}

fn is_needed(metadata: &Metadata<'_>) -> bool {
    // Other spans are needed too: their descendants on other threads belong to the trial.
    is_gen_ai(metadata)
        || metadata.is_span() && *metadata.level() <= Level::INFO
        || metadata.is_event() && (has_name(metadata) || may_report_failure(metadata))
}

impl Subscriber for OwnSubscriber {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        // The program's subscriber answers for itself, and `tracing` combines the answers.
        if is_needed(metadata) { Interest::sometimes() } else { Interest::never() }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        // Called whenever a subscriber is made.
        count();
        Some(LevelFilter::TRACE)
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        program_subscriber().map_or_else(|| is_needed(metadata), |program| program.enabled(metadata))
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let parent = attributes.parent().and_then(number_of);
        if let Some(program) = program_subscriber() {
            thread_scope::show_trial_to_program();
            return match parent {
                // A span from before the program's subscriber, which does not know it.
                Some(_) => program.new_span(&Attributes::new_root(attributes.metadata(), attributes.values())),
                None => program.new_span(attributes),
            };
        }
        let parent = match attributes.is_contextual() {
            true => self.innermost().map(|(number, _)| number),
            false => parent,
        };
        let fields = new_fields(attributes);
        let parent_position = parent.and_then(|parent| self.position_of(parent));
        let tracked = TrackedSpan::new(attributes.metadata(), fields, parent_position, thread_position);
        let number = LAST.fetch_add(1, Ordering::SeqCst) + 1;
        let mut spans = self.spans();
        let parent = parent.filter(|parent| spans.get_mut(parent).map(|span| span.references += 1).is_some());
        spans.insert(number, OwnSpan { metadata: attributes.metadata(), parent, references: 1, tracked });
        id_of(number)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        if let Some(number) = number_of(id) {
            let fields = recorded_fields(values);
            self.change(number, |span| span.tracked.record(fields));
        } else if let Some(program) = program_subscriber() {
            program.record(id, values);
        }
    }

    fn record_follows_from(&self, id: &Id, follows: &Id) {
        match (number_of(id), number_of(follows)) {
            (Some(number), Some(follows)) => {
                let position = self.position_of(follows);
                self.change(number, |span| span.tracked.adopt(|| position));
            }
            (None, None) => {
                if let Some(program) = program_subscriber() {
                    program.record_follows_from(id, follows);
                }
            }
            // No subscriber knows both.
            _ => {}
        }
    }

    fn event(&self, event: &Event<'_>) {
        if let Some(program) = program_subscriber() {
            thread_scope::show_trial_to_program();
            return program.event(event);
        }
        let around = match event.is_contextual() {
            true => self.innermost().map(|(number, _)| number),
            false => event.parent().and_then(number_of),
        };
        track_event(event, || around.and_then(|number| self.position_of(number)), thread_position);
    }

    fn enter(&self, id: &Id) {
        if let Some(number) = number_of(id) {
            let _ = ENTERED.try_with(|entered| entered.borrow_mut().push(number));
            let position = thread_position();
            self.change(number, |span| span.tracked.adopt(|| position));
            thread_scope::see_this_thread();
        } else if let Some(program) = program_subscriber() {
            thread_scope::step_aside();
            program.enter(id);
        }
    }

    fn exit(&self, id: &Id) {
        if let Some(number) = number_of(id) {
            let _ = ENTERED.try_with(|entered| {
                let mut entered = entered.borrow_mut();
                if let Some(index) = entered.iter().rposition(|one| *one == number) {
                    entered.remove(index);
                }
            });
        } else if let Some(program) = program_subscriber() {
            program.exit(id);
        }
    }

    fn clone_span(&self, id: &Id) -> Id {
        if let Some(number) = number_of(id) {
            self.change(number, |span| span.references += 1);
        } else if let Some(program) = program_subscriber() {
            return program.clone_span(id);
        }
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        match number_of(&id) {
            Some(number) => self.release(number),
            None => program_subscriber().is_some_and(|program| program.try_close(id)),
        }
    }

    fn current_span(&self) -> Current {
        if let Some(program) = program_subscriber() {
            thread_scope::show_trial_to_program();
            return program.current_span();
        }
        self.innermost().map_or_else(Current::none, |(number, metadata)| Current::new(id_of(number), metadata))
    }
}

/// Sees no spans, but is asked about each kind of span before the first one is made, on whatever thread.
struct FirstSpan;

impl Subscriber for FirstSpan {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if metadata.is_span() && is_gen_ai(metadata) {
            thread_scope::see_this_thread();
        }
        Interest::never()
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        false
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// For how long a subscriber without our layer may not be noticed after it was made.
const INTERVAL: Duration = Duration::from_millis(1);

/// Grows with every subscriber that is made.
static MADE: AtomicU64 = AtomicU64::new(0);

/// Subscribers with our layer, of which one may be set for all threads, and how many had been made before.
static WITH_LAYER: Mutex<Vec<(u64, WeakDispatch)>> = Mutex::new(Vec::new());

static PROGRAM: OnceLock<Dispatch> = OnceLock::new();

/// Our own subscriber is set for all threads, so the program has none.
static IS_OURS: OnceLock<()> = OnceLock::new();

/// Number of subscribers that were made so far.
pub(crate) fn subscribers() -> u64 {
    MADE.load(Ordering::SeqCst)
}

pub(crate) fn count() {
    MADE.fetch_add(1, Ordering::SeqCst);
}

/// A subscriber with our layer is made.
pub(crate) fn is_made(subscriber: &Dispatch) {
    if PROGRAM.get().is_none() {
        with_layer().push((subscribers(), subscriber.downgrade()));
    }
}

fn with_layer() -> MutexGuard<'static, Vec<(u64, WeakDispatch)>> {
    WITH_LAYER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a subscriber with our layer is alive. Subscribers are dropped without a lock, because that runs code of the program.
fn is_layer_alive() -> bool {
    let known = with_layer().clone();
    let mut dead = Vec::new();
    for (number, subscriber) in &known {
        if subscriber.upgrade().is_none() {
            dead.push(*number);
        }
    }
    if !dead.is_empty() {
        with_layer().retain(|(number, _)| !dead.contains(number));
    }
    known.len() > dead.len()
}

/// Sets our subscriber for all threads, unless the program has set one.
pub(crate) fn set_ours(own: &Dispatch) {
    if !is_ours() && PROGRAM.get().is_none() && dispatcher::set_global_default(own.clone()).is_ok() {
        let _ = IS_OURS.set(());
    }
}

/// Whether our subscriber is set for all threads.
pub(crate) fn is_ours() -> bool {
    IS_OURS.get().is_some()
}

/// The subscriber that the program has set for all threads.
///
/// On a thread with a subscriber of its own, `tracing` does not tell. Then a new thread looks, which takes about 30 µs, so only if the
/// program has made a subscriber.
pub(crate) fn program_subscriber() -> Option<&'static Dispatch> {
    looked_for(INTERVAL)
}

/// The same, unless nobody has set one when it was last looked for, in this interval.
fn looked_for(interval: Duration) -> Option<&'static Dispatch> {
    static LOOKED: Mutex<Option<(u64, Instant)>> = Mutex::new(None);
    if let Some(program) = PROGRAM.get() {
        return Some(program);
    }
    if is_ours() {
        return None;
    }
    let made = subscribers();
    {
        let is_layer = is_layer_alive();
        let mut looked = LOOKED.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = looked.is_some_and(|(at, when)| at == made && when.elapsed() < interval);
        if !is_layer && (made <= OwnSubscriber::MADE || is_recent) {
            return None;
        }
        *looked = Some((made, Instant::now()));
    }
    let found = on_bare_thread(|| dispatcher::get_default(Dispatch::clone))?;
    if found.is::<NoSubscriber>() || found.is::<OwnSubscriber>() {
        return None;
    }
    Some(PROGRAM.get_or_init(|| found))
}

/// Whether the program has set a subscriber for all threads that hides spans from us, also one that was set within the interval.
pub(crate) fn hides_spans() -> bool {
    looked_for(Duration::ZERO).is_some_and(|program| !has_layer(program))
}

pub(crate) fn has_layer(subscriber: &Dispatch) -> bool {
    subscriber.downcast_ref::<CaptureLayer>().is_some()
}

/// A span of the program's subscriber, made from within another subscriber, where `tracing` makes none.
pub(crate) fn span_of_program(make: impl FnOnce() -> Span + Send) -> Option<Span> {
    on_bare_thread(make)
}

/// Does something on a thread with no subscriber but the one of all threads. `None` if there is no thread.
fn on_bare_thread<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    thread::scope(|scope| thread::Builder::new().spawn_scoped(scope, work).ok()?.join().ok())
}
