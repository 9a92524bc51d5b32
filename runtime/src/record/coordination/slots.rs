use std::{io, path::Path, thread, time::Duration};

use crate::platform::file_lock::FileLock;

/// Longest time between two looks at the slots.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The right to run one trial of a suite; given back when dropped, or by the operating system when the process dies.
#[derive(Debug)]
#[must_use = "the slot is free again when this is dropped"]
pub(crate) struct Slot {
    _lock: FileLock,
}

impl Slot {
    /// Waits until fewer than `limit` trials of the suite run, in this process and all others of the run.
    ///
    /// `name` is a part of file names: `slot-NAME-N.lock`, `slots-NAME.queue` in `locks`.
    ///
    /// # Errors
    ///
    /// If a lock file cannot be made.
    pub(crate) fn take(locks: &Path, name: &str, limit: u32) -> io::Result<Self> {
        let slot = |number| locks.join(format!("slot-{name}-{number}.lock"));
        if limit <= 1 {
            return FileLock::acquire(&slot(0)).map(|lock| Self { _lock: lock });
        }
        // No call waits for any one of several locks. Only the first of the queue looks at them again and again; all
        // others sleep until it is their turn.
        let _queue = FileLock::acquire(&locks.join(format!("slots-{name}.queue")))?;
        let mut pause = Duration::from_millis(1);
        loop {
            for number in 0..limit {
                if let Some(lock) = FileLock::try_acquire(&slot(number))? {
                    return Ok(Self { _lock: lock });
                }
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LOOK_AGAIN);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn most_at_once(limit: u32) -> u32 {
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
    fn no_more_than_the_limit_run_at_once() {
        assert_eq!(most_at_once(1), 1);
        assert!(most_at_once(3) <= 3);
    }
}
