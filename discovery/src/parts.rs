//! Work on parts of a list, on several threads.

/// Entries of a directory whose files are looked at in less time than a thread takes to start.
pub(crate) const ENTRIES_PER_THREAD: usize = 200;

/// The number of processors.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The results of `work` for parts of the items, in their order. As many as `threads` work, each on at least `few` items.
pub fn in_parts<T: Sync, R: Send>(
    items: &[T],
    few: usize,
    threads: impl FnOnce() -> usize,
    work: impl Fn(&[T]) -> R + Sync,
) -> Vec<R> {
    let most = items.len() / few;
    if most < 2 {
        // The number of processors takes longer to find out than a small directory.
        return vec![work(items)];
    }
    let mut parts = items.chunks(items.len().div_ceil(threads().clamp(1, most)));
    let first = parts.next().unwrap_or_default();
    std::thread::scope(|scope| {
        let others: Vec<_> = parts.map(|part| scope.spawn(|| work(part))).collect();
        let mut results = vec![work(first)];
        for other in others {
            results.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    })
}
