//! The runs before a run.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use super::{RunData, read_record};
use crate::record::{RunRecord, Status, SuiteId};
use crate::run_directory::{OutputDirectory, RUN_RECORD, StoredRun};

/// The last `count` runs beside this one that began before it and share a suite with it, the oldest first, without trials.
///
/// # Errors
///
/// If the directory of runs, or one of these runs, cannot be read.
pub fn earlier_runs(run: &RunData, count: usize) -> io::Result<Vec<RunData>> {
    let suites = |run: &RunData| run.suites.iter().map(|suite| suite.name.clone()).collect::<BTreeSet<_>>();
    let ours = suites(run);
    let mut found = Vec::new();
    for earlier in before(run)? {
        if found.len() == count {
            break;
        }
        let earlier = RunData::read_cases(earlier.path())?.with_suite_names(&run.suite_names());
        if !suites(&earlier).is_disjoint(&ours) {
            found.push(earlier);
        }
    }
    found.reverse();
    Ok(found)
}

/// The newest run that began before this one, is not known to be of the [same agent](RunRecord::is_of_same_agent), and has a result of a
/// case in common with it.
///
/// # Errors
///
/// If the directory of runs, or one of them, cannot be read.
pub fn earlier_comparable(run: &RunData) -> io::Result<Option<StoredRun>> {
    let is_of_other_agent = |other: &StoredRun| match (&run.record, run_record(other)) {
        (Some(ours), Some(theirs)) => !ours.is_of_same_agent(&theirs),
        _ => true,
    };
    first_comparable(run, before(run)?.into_iter().filter(is_of_other_agent))
}

/// The other runs beside a run that are of the [same agent](RunRecord::is_of_same_agent), the oldest first: runs in which it was called,
/// and whose tests have ended.
///
/// # Errors
///
/// If the directory of runs cannot be read.
pub fn runs_of_same_agent(run: &RunData) -> io::Result<Vec<StoredRun>> {
    let Some(ours) = run.record.as_ref().filter(|record| record.has_called_agent()) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for other in beside(run)?.into_iter().rev().filter(|other| other.path() != run.directory) {
        if run_record(&other).is_some_and(|record| record.counts_with(ours)) && !other.is_in_use()? {
            found.push(other);
        }
    }
    Ok(found)
}

fn run_record(run: &StoredRun) -> Option<RunRecord> {
    read_record(run.path(), &run.path().join(RUN_RECORD), &mut Vec::new())
}

/// The newest other run beside this one that is of a commit, without changed files, and has a result of a case in common with it.
///
/// # Errors
///
/// If the directory of runs, or one of them, cannot be read.
pub fn comparable_of_commit(run: &RunData, commit: &str) -> io::Result<Option<StoredRun>> {
    let others = beside(run)?.into_iter().filter(|other| other.path() != run.directory);
    // Its cases are read only if it is of the commit: most runs are not.
    let is_of_commit = |other: &StoredRun| {
        run_record(other).and_then(|record| record.git).is_some_and(|git| git.commit == commit && !git.dirty)
    };
    first_comparable(run, others.filter(is_of_commit))
}

/// The outcomes of tests, given by name of the suite and path, in the newest run of an output directory that has one that is not
/// *skipped*. Tests without any are left out. `suites` says what each suite is called.
///
/// # Errors
///
/// If a run cannot be read.
pub fn newest_outcomes(
    output: &Path,
    suites: &[(SuiteId, String)],
    tests: &BTreeSet<(String, String)>,
) -> io::Result<BTreeMap<(String, String), Status>> {
    let mut found = BTreeMap::new();
    for run in OutputDirectory::new(output).runs_newest_first()? {
        if found.len() == tests.len() {
            break;
        }
        let run = RunData::read_cases(run.path())?.with_suite_names(suites);
        for record in run.suites.into_iter().flat_map(|suite| suite.cases).map(|it| it.record) {
            let test = (record.identity.suite, record.identity.test_name);
            if record.outcome != Status::Skipped && tests.contains(&test) {
                found.entry(test).or_insert(record.outcome);
            }
        }
    }
    Ok(found)
}

/// The runs beside a run that began before it, the newest first.
fn before(run: &RunData) -> io::Result<Vec<StoredRun>> {
    let mut runs = beside(run)?;
    match runs.iter().position(|other| other.path() == run.directory) {
        Some(position) => Ok(runs.split_off(position + 1)),
        None => Ok(Vec::new()),
    }
}

/// The runs in the directory of a run, the newest first.
fn beside(run: &RunData) -> io::Result<Vec<StoredRun>> {
    match run.directory.parent().and_then(Path::parent) {
        Some(output) => OutputDirectory::new(output).runs_newest_first(),
        None => Ok(Vec::new()),
    }
}

/// The first run that has a result of a case of which this one has a result.
fn first_comparable(run: &RunData, others: impl IntoIterator<Item = StoredRun>) -> io::Result<Option<StoredRun>> {
    let ours = completed_cases(run);
    for other in others {
        let theirs = RunData::read_cases(other.path())?.with_suite_names(&run.suite_names());
        if !completed_cases(&theirs).is_disjoint(&ours) {
            return Ok(Some(other));
        }
    }
    Ok(None)
}

/// The cases of a run that have a result.
fn completed_cases(run: &RunData) -> BTreeSet<[String; 3]> {
    let records = run.suites.iter().flat_map(|suite| &suite.cases).map(|case| &case.record);
    let completed = records.filter(|record| record.completed > 0);
    completed.map(|record| [record.suite.clone(), record.case_id.clone(), record.target.clone()]).collect()
}
