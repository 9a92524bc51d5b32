//! The calls of agents that run now, and which of them a span without ancestors belongs to.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::{self, LocalSet};

use crate::agents::spans::span_store::Spans;

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

pub(crate) fn end(spans: &Arc<Spans>) {
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
