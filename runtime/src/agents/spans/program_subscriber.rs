//! The subscriber that the program sets for all its threads, which it may do at any time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tracing::dispatcher::{self, WeakDispatch};
use tracing::subscriber::NoSubscriber;
use tracing::{Dispatch, Span};

use crate::agents::spans::own_subscriber::OwnSubscriber;
use crate::agents::spans::span_layer::CaptureLayer;

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
