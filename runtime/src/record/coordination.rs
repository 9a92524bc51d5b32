//! Coordination between the tests of a run, which are threads of one process or separate processes: the ledger of costs, work that is done
//! once, and slots, permissions to run one trial in parallel with others.
//!
//! It uses advisory locks on files in `locks/` of the run directory. The operating system releases them when a process dies. The age of a
//! lock file has no meaning, and a remaining file without a lock has no effect.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use evalsuite_schema::json::{FromJson, FromJsonOverDefault, ToJson};

use crate::platform::file_lock::FileLock;
use crate::platform::files::{error_at, read_json, replace_json, write_json};
use crate::platform::json;
use crate::platform::redaction::Redactor;
use crate::platform::untrusted::{FileLimits, OpenError, UntrustedDirectory};
use crate::record::run_directory::layout::LEDGER;

/// Bytes of the ledger that are read every time before their sum is stored.
const UNSUMMED: u64 = 16 * 1024;

/// Most bytes of a line.
const LONGEST_LINE: u64 = 1 << 20;

/// What a run has cost: `spend.jsonl`, one line per attempt at a trial, appended under a lock.
///
/// The sum of all but the last lines is stored next to the lock, so that reading the sum takes the same time in a run of ten
/// trials and of ten thousand. The stored sum may be lost: it is computed again from the lines.
#[derive(Debug)]
pub(crate) struct Ledger {
    file: PathBuf,
    lock: PathBuf,
    sums: PathBuf,
}

/// A line of the ledger. Costs are US dollars; `None` where nothing was reported.
#[derive(Debug, ToJson, FromJson)]
pub(crate) struct Spend {
    pub(crate) suite: String,
    pub(crate) case_key: String,
    pub(crate) trial: u32,
    pub(crate) attempt: u32,
    pub(crate) runner_attempt: u32,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) judge_cost_usd: Option<f64>,
    #[json(default, skip_if = "Option::is_none")]
    pub(crate) user_cost_usd: Option<f64>,
}

impl Spend {
    /// Its cost in US dollars.
    pub(crate) fn total(&self) -> f64 {
        [self.cost_usd, self.judge_cost_usd, self.user_cost_usd].into_iter().flatten().sum()
    }
}

/// Sums in US dollars.
#[derive(Debug, Default, PartialEq, ToJson, FromJsonOverDefault)]
pub(crate) struct Spent {
    /// The whole run.
    pub(crate) run: f64,
    suites: BTreeMap<String, f64>,
    /// Bytes of the ledger that are counted.
    counted: u64,
}

impl Spent {
    /// One suite.
    pub(crate) fn suite(&self, name: &str) -> f64 {
        self.suites.get(name).copied().unwrap_or(0.0)
    }

    fn add(&mut self, spend: &Spend) {
        let cost = spend.total();
        self.run += cost;
        *self.suites.entry(spend.suite.clone()).or_default() += cost;
    }
}

impl Ledger {
    /// The ledger of a run.
    pub(crate) fn of(run: &Path, locks: &Path) -> Self {
        Self { file: run.join(LEDGER), lock: locks.join("spend.lock"), sums: locks.join("spent.json") }
    }

    /// Adds a line.
    pub(crate) fn append(&self, spend: &Spend) -> io::Result<()> {
        let line = json::compact(spend, None)? + "\n";
        let _lock = FileLock::acquire(&self.lock)?;
        let directory = UntrustedDirectory::new(self.file.parent().unwrap_or(Path::new("")));
        let mut file = directory.open_shared(OsStr::new(LEDGER), true)?;
        drop_torn_line(&mut file)?;
        file.write_all(line.as_bytes())
    }

    /// What has been spent so far.
    pub(crate) fn spent(&self) -> io::Result<Spent> {
        let _lock = FileLock::acquire(&self.lock)?;
        let directory = UntrustedDirectory::new(self.file.parent().unwrap_or(Path::new("")));
        let mut file = match directory.open_record(LEDGER) {
            Ok(file) => file,
            Err(OpenError::Missing) => return Ok(Spent::default()),
            Err(error) => return Err(error_at(&self.file, &error.into())),
        };
        let length = file.metadata()?.len();
        let mut spent: Spent = read_json(&self.sums).ok().flatten().unwrap_or_default();
        if spent.counted > length {
            spent = Spent::default();
        }
        file.seek(SeekFrom::Start(spent.counted))?;
        let most = FileLimits::of(&self.file).bytes;
        if length - spent.counted > most {
            let error = io::Error::new(io::ErrorKind::InvalidData, format!("more than {most} bytes were added to it"));
            return Err(error_at(&self.file, &error));
        }
        let mut lines = String::new();
        file.take(most).read_to_string(&mut lines)?;
        for line in lines.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let spend = json::decode(line.as_bytes()).map_err(|error| {
                io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", self.file.display()))
            })?;
            spent.add(&spend);
            spent.counted += u64::try_from(line.len()).unwrap_or(u64::MAX);
        }
        if u64::try_from(lines.len()).unwrap_or(u64::MAX) > UNSUMMED {
            replace_json(&self.sums, &spent, &Redactor::default())?;
        }
        Ok(spent)
    }
}

/// A machine that went down may have left the beginning of a line.
fn drop_torn_line(file: &mut File) -> io::Result<()> {
    let mut last = [0];
    match file.seek(SeekFrom::End(-1)) {
        Ok(_) => file.read_exact(&mut last)?,
        // Nothing is before the beginning of an empty file.
        Err(_) if file.metadata()?.len() == 0 => return Ok(()),
        Err(error) => return Err(error),
    }
    if last == *b"\n" {
        return Ok(());
    }
    // A line is far shorter than that.
    let start = file.metadata()?.len().saturating_sub(LONGEST_LINE);
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(LONGEST_LINE).read_to_end(&mut bytes)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |position| position + 1);
    file.set_len(start + u64::try_from(whole).unwrap_or(0))
}

/// The stored result.
#[derive(ToJson, FromJson)]
enum StoredResult<T, E> {
    Done(T),
    Failed(E),
}

/// Does `work` unless a test of this run has done it, and returns its result, success or failure, to all who call this. Calls
/// wait while another one works. If its process dies, there is no result, and the next call does the work again.
///
/// `name` is a part of file names: `once-NAME.lock`, `once-NAME.json` in `locks`.
pub(crate) fn run_once<T, E>(
    locks: &Path,
    name: &str,
    redactor: &Redactor,
    work: impl FnOnce() -> Result<T, E>,
) -> io::Result<Result<T, E>>
where
    T: ToJson + FromJson,
    E: ToJson + FromJson,
{
    let result = locks.join(format!("once-{name}.json"));
    if let Some(stored) = read_result(&result)? {
        return Ok(stored);
    }
    let _lock = FileLock::acquire(&locks.join(format!("once-{name}.lock")))?;
    if let Some(stored) = read_result(&result)? {
        return Ok(stored);
    }
    let outcome = work();
    let stored = match &outcome {
        Ok(value) => StoredResult::Done(value),
        Err(failure) => StoredResult::Failed(failure),
    };
    write_json(&result, &stored, redactor)?;
    Ok(outcome)
}

fn read_result<T: FromJson, E: FromJson>(path: &Path) -> io::Result<Option<Result<T, E>>> {
    Ok(read_json(path)?.map(|stored| match stored {
        StoredResult::Done(value) => Ok(value),
        StoredResult::Failed(failure) => Err(failure),
    }))
}

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
    use std::thread;
    use std::time::Duration;

    use super::*;

    fn spend(suite: &str, cost: f64) -> Spend {
        Spend {
            suite: suite.to_owned(),
            case_key: "case-12345678".to_owned(),
            trial: 0,
            attempt: 0,
            runner_attempt: 1,
            cost_usd: Some(cost),
            judge_cost_usd: None,
            user_cost_usd: None,
        }
    }

    #[test]
    fn lines_of_all_threads_are_summed_per_suite() {
        let directory = tempfile::tempdir().unwrap();
        let ledger = Ledger::of(directory.path(), &directory.path().join("locks"));
        assert_eq!(ledger.spent().unwrap(), Spent::default());
        thread::scope(|scope| {
            for suite in ["a", "b"] {
                let ledger = &ledger;
                scope.spawn(move || (0..200).for_each(|_| ledger.append(&spend(suite, 0.25)).unwrap()));
            }
        });
        // Once over all lines, then from the stored sum on.
        for _ in 0..2 {
            let spent = ledger.spent().unwrap();
            assert_eq!((spent.run, spent.suite("a"), spent.suite("c")), (100.0, 50.0, 0.0));
        }
        assert!(ledger.sums.is_file(), "the sum of a long ledger is stored");
        ledger.append(&spend("c", 1.0)).unwrap();
        assert_eq!(ledger.spent().unwrap().run, 101.0);
    }

    #[test]
    fn a_torn_line_counts_nothing_and_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let ledger = Ledger::of(directory.path(), directory.path());
        ledger.append(&spend("a", 1.0)).unwrap();
        let mut file = File::options().append(true).open(&ledger.file).unwrap();
        file.write_all(b"{\"suite\":\"a\",\"ca").unwrap();
        assert_eq!(ledger.spent().unwrap().run, 1.0);
        ledger.append(&spend("a", 2.0)).unwrap();
        assert_eq!(ledger.spent().unwrap().run, 3.0);
    }

    #[test]
    fn all_callers_get_the_same_result() {
        let directory = tempfile::tempdir().unwrap();
        let count = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let result: Result<u32, String> = run_once(directory.path(), "x", &Redactor::default(), || {
                        thread::sleep(Duration::from_millis(20));
                        Ok(count.fetch_add(1, Ordering::SeqCst) + 1)
                    })
                    .unwrap();
                    assert_eq!(result, Ok(1));
                });
            }
        });
    }

    #[test]
    fn a_failure_is_stored_and_not_repeated() {
        let directory = tempfile::tempdir().unwrap();
        let ask = |answer: &str| -> Result<u32, String> {
            run_once(directory.path(), "x", &Redactor::default(), || Err(answer.to_owned())).unwrap()
        };
        assert_eq!(ask("no"), Err("no".to_owned()));
        assert_eq!(ask("other"), Err("no".to_owned()));
    }

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
