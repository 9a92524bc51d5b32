//! The runs before a run.

use std::path::PathBuf;
use std::{fs, io};

use evalsuite::record::run_directory::{RUN_RECORD, StoredRun};
use evalsuite_schema::record::RunRecord;

use crate::run_data::{RunData, read_record};

/// The last `count` runs beside this one that started before it and share a suite with it, the oldest first, without trials.
///
/// A run whose `run.json` is missing or torn is left out: nobody can say when it started.
///
/// # Errors
///
/// If the directory of runs, or one of these runs, cannot be listed.
pub fn earlier_runs(run: &RunData, count: usize) -> io::Result<Vec<RunData>> {
    let (Some(parent), Some(record)) = (run.directory.parent(), &run.record) else { return Ok(Vec::new()) };
    let mut earlier: Vec<(String, PathBuf)> = Vec::new();
    for entry in fs::read_dir(parent)? {
        let Some(other) = StoredRun::open(entry?.path()) else { continue };
        let theirs: Option<RunRecord> = read_record(other.path(), &other.path().join(RUN_RECORD), &mut Vec::new());
        // RFC 3339 in UTC with milliseconds: texts sort as times.
        earlier.extend(
            theirs.map(|it| it.started_at).filter(|at| *at < record.started_at).map(|at| (at, other.path().to_owned())),
        );
    }
    earlier.sort();
    let mut found = Vec::new();
    while let Some((_, path)) = earlier.pop()
        && found.len() < count
    {
        let other = RunData::read_cases(path)?;
        if run.suites.iter().any(|suite| other.suites.iter().any(|theirs| theirs.name == suite.name)) {
            found.push(other);
        }
    }
    found.reverse();
    Ok(found)
}
