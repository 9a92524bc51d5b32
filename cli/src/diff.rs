//! `cargo evalsuite diff`.

use std::collections::BTreeSet;
use std::io;
use std::io::Write;
use std::process::ExitCode;

use evalsuite::record::run_directory::{LATEST, OutputDirectory, StoredRun};
use evalsuite_report::{CompareOptions, Comparison, ComparisonVerdict, RunData};

use crate::command_line::Diff;
use crate::{baselines, stored_runs};

/// Exit code if nothing can be said: too few cases in common, or too many without a result.
const UNDECIDED: u8 = 4;

pub(crate) fn run(command: &Diff) -> io::Result<ExitCode> {
    let mut options = CompareOptions::new();
    options.cluster_by.clone_from(&command.cluster_by);
    options.margin = command.margin;
    let comparison = match compare(command, &options)? {
        Ok(comparison) => comparison,
        Err(code) => return Ok(code),
    };
    write!(anstream::stdout().lock(), "{comparison}")?;
    Ok(match comparison.verdict() {
        ComparisonVerdict::Regressed => ExitCode::FAILURE,
        ComparisonVerdict::Undecided => ExitCode::from(UNDECIDED),
        _ => ExitCode::SUCCESS,
    })
}

/// The comparison, or the exit code if a run does not exist.
fn compare(command: &Diff, options: &CompareOptions) -> io::Result<Result<Comparison, ExitCode>> {
    let named = if command.baseline { &command.base } else { &command.run };
    let run = match stored_runs::find(named.as_deref().unwrap_or(LATEST))? {
        Ok(run) => run,
        Err(code) => return Ok(Err(code)),
    };
    let read = |run: &StoredRun| {
        // The key of clusters is in the records of trials.
        if command.cluster_by.is_some() { RunData::read(run.path()) } else { RunData::read_cases(run.path()) }
    };
    if command.baseline {
        let run = read(&run)?;
        let baselines = baselines::read(&run)?;
        if baselines.is_empty() {
            let message = "no suite of the run has a baseline; `cargo evalsuite accept` makes one";
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        return Ok(Ok(Comparison::with_baselines(&baselines, &run, options)));
    }
    let base = match &command.base {
        Some(base) => match stored_runs::find(base)? {
            Ok(base) => base,
            Err(code) => return Ok(Err(code)),
        },
        None => match earlier_comparable(&run)? {
            Some(base) => base,
            None => {
                let message = format!("no earlier run has cases in common with `{}`", run.id());
                return Ok(Err(stored_runs::unknown_run(&message)));
            }
        },
    };
    Ok(Ok(Comparison::new(&read(&base)?, &read(&run)?, options)))
}

/// How a run of chosen cases compares with the accepted results, or without any with the newest run that has cases in common;
/// `None` if there is neither.
///
/// # Errors
///
/// If a baseline or an earlier run cannot be read.
pub(crate) fn after_run(run: &StoredRun) -> io::Result<Option<Comparison>> {
    let options = CompareOptions::new().with_only_cases_of_run();
    let data = RunData::read_cases(run.path())?;
    let baselines = baselines::read(&data)?;
    if !baselines.is_empty() {
        return Ok(Some(Comparison::with_baselines(&baselines, &data, &options)));
    }
    let Some(base) = earlier_comparable(run)? else { return Ok(None) };
    Ok(Some(Comparison::new(&RunData::read_cases(base.path())?, &data, &options)))
}

/// The newest run that began before this one and has a case in common with it.
fn earlier_comparable(run: &StoredRun) -> io::Result<Option<StoredRun>> {
    let Some(root) = run.path().parent().and_then(std::path::Path::parent) else { return Ok(None) };
    let began = run.began()?;
    let ours = cases(&RunData::read_cases(run.path())?);
    let mut earlier = Vec::new();
    for other in OutputDirectory::new(root).runs()? {
        let time = other.began()?;
        if other.path() != run.path() && time <= began {
            earlier.push((time, other));
        }
    }
    earlier.sort_by_key(|(time, other)| std::cmp::Reverse((*time, other.id())));
    for (_, other) in earlier {
        if !cases(&RunData::read_cases(other.path())?).is_disjoint(&ours) {
            return Ok(Some(other));
        }
    }
    Ok(None)
}

/// The cases of a run that have a result.
fn cases(run: &RunData) -> BTreeSet<[String; 3]> {
    let records = run.suites.iter().flat_map(|suite| &suite.cases).map(|case| &case.record);
    let completed = records.filter(|record| record.completed > 0);
    completed.map(|record| [record.suite.clone(), record.case_id.clone(), record.target.clone()]).collect()
}
