//! The ledger of a run: what its trials cost.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::platform::file_lock::FileLock;
use crate::platform::json;
use crate::record::run_directory::layout::LEDGER;

/// Bytes of the ledger that are read every time before their sum is stored.
const UNSUMMED: u64 = 16 * 1024;

/// What a run has cost: `spend.jsonl`, one line per attempt at a trial, appended under a lock.
///
/// The sum of all but the last lines is stored beside the lock, so that reading the sum takes the same time in a run of ten
/// trials and of ten thousand. The stored sum may be lost: it is computed again from the lines.
#[derive(Debug)]
pub(crate) struct Ledger {
    file: PathBuf,
    lock: PathBuf,
    sums: PathBuf,
}

/// A line of the ledger. Costs are US dollars; `None` where nothing was reported.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Spend {
    pub(crate) suite: String,
    pub(crate) case_key: String,
    pub(crate) trial: u32,
    pub(crate) attempt: u32,
    pub(crate) runner_attempt: u32,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) judge_cost_usd: Option<f64>,
}

impl Spend {
    /// Its cost in US dollars.
    pub(crate) fn total(&self) -> f64 {
        self.cost_usd.unwrap_or(0.0) + self.judge_cost_usd.unwrap_or(0.0)
    }
}

/// Sums in US dollars.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
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
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(crate) fn append(&self, spend: &Spend) -> io::Result<()> {
        let line = json::compact(spend, None)? + "\n";
        let _lock = FileLock::acquire(&self.lock)?;
        let mut file = File::options().create(true).append(true).read(true).open(&self.file)?;
        drop_torn_line(&mut file)?;
        file.write_all(line.as_bytes())
    }

    /// What has been spent so far.
    ///
    /// # Errors
    ///
    /// If the ledger cannot be read.
    pub(crate) fn spent(&self) -> io::Result<Spent> {
        let _lock = FileLock::acquire(&self.lock)?;
        let mut file = match File::open(&self.file) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Spent::default()),
            Err(error) => return Err(error),
        };
        let length = file.metadata()?.len();
        let mut spent: Spent =
            fs::read(&self.sums).ok().and_then(|bytes| json::decode(&bytes).ok()).unwrap_or_default();
        if spent.counted > length {
            spent = Spent::default();
        }
        file.seek(SeekFrom::Start(spent.counted))?;
        let mut lines = String::new();
        file.read_to_string(&mut lines)?;
        for line in lines.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let spend = json::decode(line.as_bytes()).map_err(|error| {
                io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", self.file.display()))
            })?;
            spent.add(&spend);
            spent.counted += u64::try_from(line.len()).unwrap_or(u64::MAX);
        }
        if u64::try_from(lines.len()).unwrap_or(u64::MAX) > UNSUMMED {
            fs::write(&self.sums, json::compact(&spent, None)?)?;
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
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |position| position + 1);
    file.set_len(u64::try_from(whole).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::thread;

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
}
