//! Slots: permissions to run one trial in parallel with others.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{io, thread};

use crate::platform::file_lock::FileLock;

/// Longest pause before all slots are tried again.
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// The permission to run one trial of a suite. Released when dropped, or by the operating system when the process dies.
#[derive(Debug)]
#[must_use = "the slot is released when this is dropped"]
pub(crate) struct Slot {
    _lock: FileLock,
}

impl Slot {
    /// Waits until fewer than `limit` trials of the suite run in all processes of the run.
    ///
    /// `name` is a part of file names: `slot-NAME-N.lock`, `slots-NAME.queue` in `locks`.
    pub(crate) fn take(locks: &Path, name: &str, limit: u32) -> io::Result<Self> {
        if limit <= 1 {
            return FileLock::acquire(&lock_file(locks, name, 0)).map(|lock| Self { _lock: lock });
        }
        // No system call waits for any of several locks. Only the first in the queue tries them repeatedly; all others
        // sleep until it is their turn.
        let _queue = FileLock::acquire(&queue_file(locks, name))?;
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(slot) = Self::free_one(locks, name, limit)? {
                return Ok(slot);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// A slot that is free and has no waiting tests.
    pub(crate) fn try_take(locks: &Path, name: &str, limit: u32) -> io::Result<Option<Self>> {
        let Some(_queue) = FileLock::try_acquire(&queue_file(locks, name))? else { return Ok(None) };
        Self::free_one(locks, name, limit)
    }

    fn free_one(locks: &Path, name: &str, limit: u32) -> io::Result<Option<Self>> {
        for number in 0..limit {
            if let Some(lock) = FileLock::try_acquire(&lock_file(locks, name, number))? {
                return Ok(Some(Self { _lock: lock }));
            }
        }
        Ok(None)
    }
}

fn lock_file(locks: &Path, name: &str, number: u32) -> PathBuf {
    locks.join(format!("slot-{name}-{number}.lock"))
}

fn queue_file(locks: &Path, name: &str) -> PathBuf {
    locks.join(format!("slots-{name}.queue"))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn most_in_parallel(limit: u32) -> u32 {
        let directory = tempfile::tempdir().unwrap();
        let (now, most) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let _slot = Slot::take(directory.path(), "x", limit).unwrap();
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    thread::sleep(Duration::from_millis(5));
                    now.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        most.into_inner()
    }

    #[test]
    fn at_most_the_limit_run_in_parallel() {
        assert_eq!(most_in_parallel(1), 1);
        assert!(most_in_parallel(3) <= 3);
    }

    #[test]
    fn a_slot_that_somebody_waits_for_is_not_free() {
        let directory = tempfile::tempdir().unwrap();
        let free = || Slot::try_take(directory.path(), "x", 2).unwrap();
        let held = [free().unwrap(), free().unwrap()];
        assert!(free().is_none(), "both are held");
        drop(held);
        let queue = FileLock::acquire(&queue_file(directory.path(), "x")).unwrap();
        assert!(free().is_none(), "the first in the queue will take it");
        drop(queue);
        assert!(free().is_some());
    }
}
