//! Trials that the run already has of a case, where another round of trials is added to them.

use std::io;

use evalsuite_records::record::{CaseRecord, Status, TrialRecord, TrialSummary};

use crate::platform::files::{read_json, sorted_directories};
use crate::record::run_directory::layout::{CASE_RECORD, trial_directory_name};
use crate::run::plan::Plan;
use crate::run::trials::counted_trials::EndedTrial;
use crate::workspace::remove_directory;

/// The trials that are kept, in order; `None` if the case starts from its first trial: it has no record, or one of another definition or
/// of trials that cannot be read. Directories of other trials are removed: their process was killed.
pub(crate) fn kept_trials(plan: &Plan<'_>) -> io::Result<Option<Vec<EndedTrial>>> {
    if !plan.settings.add_trials {
        return Ok(None);
    }
    // A damaged record is replaced, as without trials to add.
    let Ok(Some(record)) = read_json::<CaseRecord>(&plan.directory.join(CASE_RECORD)) else { return Ok(None) };
    if record.digests() != plan.identity.digests() || record.trials.is_empty() {
        return Ok(None);
    }
    let Some(trials) = read_all(plan, &record.trials) else { return Ok(None) };
    let Some(retried) = read_all(plan, &record.retried) else { return Ok(None) };
    let is_next = |(index, trial): (usize, &TrialRecord)| {
        usize::try_from(trial.trial) == Ok(index) && trial.outcome != Status::Skipped
    };
    if !trials.iter().enumerate().all(is_next) {
        return Ok(None);
    }
    let names: Vec<String> =
        trials.iter().chain(&retried).map(|trial| trial_directory_name(trial.trial, trial.attempt)).collect();
    for directory in sorted_directories(&plan.directory)? {
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("trial-") && !names.contains(&name) {
            remove_directory(&directory)?;
        }
    }
    let of = |record: TrialRecord| {
        let is_before = |attempt: &&TrialRecord| attempt.trial == record.trial;
        EndedTrial { retried: retried.iter().filter(is_before).cloned().collect(), record }
    };
    Ok(Some(trials.into_iter().map(of).collect()))
}

/// The records of trials; `None` if one is missing or damaged.
fn read_all(plan: &Plan<'_>, summaries: &[TrialSummary]) -> Option<Vec<TrialRecord>> {
    summaries.iter().map(|trial| read_json(&plan.directory.join(&trial.path)).ok().flatten()).collect()
}
