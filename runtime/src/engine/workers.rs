//! The limit of a suite on trials at the same time, among the threads of this process.

use std::{
    collections::BTreeMap,
    sync::{Condvar, Mutex, PoisonError},
};

static RUNNING: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());
static FREED: Condvar = Condvar::new();

/// The right to run one trial; given back when dropped.
pub(crate) struct Slot(Option<String>);

impl Slot {
    /// Waits for a slot of the suite. Without a limit there is nothing to wait for.
    pub(crate) fn take(suite: &str, workers: Option<u32>) -> Self {
        let Some(limit) = workers else { return Self(None) };
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        while running.get(suite).is_some_and(|count| *count >= limit.max(1)) {
            running = FREED.wait(running).unwrap_or_else(PoisonError::into_inner);
        }
        *running.entry(suite.to_owned()).or_default() += 1;
        Self(Some(suite.to_owned()))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let Some(suite) = &self.0 else { return };
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = running.get_mut(suite) {
            *count -= 1;
        }
        FREED.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicU32, Ordering},
        thread,
        time::Duration,
    };

    use super::*;

    #[test]
    fn no_more_than_the_limit_run_at_once() {
        static NOW: AtomicU32 = AtomicU32::new(0);
        static MOST: AtomicU32 = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let _slot = Slot::take("workers test", Some(2));
                    MOST.fetch_max(NOW.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    thread::sleep(Duration::from_millis(5));
                    NOW.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert!(MOST.load(Ordering::SeqCst) <= 2);
    }
}
