//! Work on the items of a list, some at the same time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{iter, thread};

/// The results of `work` for all items, in their order. At most `most` threads work; `None`: one for each processor.
pub(crate) fn map_on_threads<T: Sync, R: Send>(
    items: &[T],
    most: Option<u32>,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let most = most.map(|most| most as usize);
    let threads = most.or_else(|| thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    let results = Mutex::new(items.iter().map(|_| None).collect::<Vec<_>>());
    each_on_threads(items.len(), threads, &|index| {
        let result = work(&items[index]);
        results.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(result);
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect()
}

/// Does the work for each index below `count`. Compiled once, for any type of items.
fn each_on_threads(count: usize, threads: usize, work: &(dyn Fn(usize) + Sync)) {
    let next = AtomicUsize::new(0);
    let run = || {
        for index in iter::repeat_with(|| next.fetch_add(1, Ordering::SeqCst)).take_while(|next| *next < count) {
            work(index);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            // Where a thread cannot be started, the others do its work.
            let _ = thread::Builder::new().name("evalsuite".to_owned()).spawn_scoped(scope, run);
        }
        run();
    });
}
