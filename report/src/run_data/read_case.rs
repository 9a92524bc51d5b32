//! Reads one attempt at a case.

use std::io;
use std::path::{Path, PathBuf};

use evalsuite::record::run_directory::{CASE_RECORD, CaseDirectoryName, TRIAL_RECORD, TRIAL_STARTED};
use evalsuite_schema::record::{CaseRecord, Started, TrialRecord, TrialSummary};

use super::incomplete::{case_without_record, trial_without_record};
use super::read_run::directories;
use super::{Problem, TrialData, read_record};

/// How much of a case is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// Its record.
    Cases,
    /// Its record and those of its trials.
    Trials,
}

/// One runner attempt at a case.
pub(super) struct CaseAttempt {
    pub(super) name: CaseDirectoryName,
    pub(super) directory: PathBuf,
    pub(super) record: CaseRecord,
    pub(super) trials: Vec<TrialData>,
}

impl CaseAttempt {
    pub(super) fn name_without_attempt(&self) -> String {
        CaseDirectoryName { attempt: 1, ..self.name.clone() }.to_string()
    }
}

/// `None` for a directory in which no trial has started.
pub(super) fn read_case(
    run: &Path,
    directory: &Path,
    depth: Depth,
    problems: &mut Vec<Problem>,
) -> io::Result<Option<CaseAttempt>> {
    let name = CaseDirectoryName::parse(&directory.file_name().unwrap_or_default().to_string_lossy());
    let record: Option<CaseRecord> = read_record(run, &directory.join(CASE_RECORD), problems);
    let Some(record) = record else { return without_case_record(run, directory, name, problems) };
    let trials = match depth {
        Depth::Cases => Vec::new(),
        Depth::Trials => {
            record.trials.iter().map(|trial| read_trial(run, directory, &record, trial, problems)).collect()
        }
    };
    Ok(Some(CaseAttempt { name, directory: relative(run, directory), record, trials }))
}

fn read_trial(
    run: &Path,
    case: &Path,
    record: &CaseRecord,
    summary: &TrialSummary,
    problems: &mut Vec<Problem>,
) -> TrialData {
    let file = case.join(&summary.path);
    let known = problems.len();
    let directory = relative(run, file.parent().unwrap_or(case));
    if let Some(record) = read_record(run, &file, problems) {
        return TrialData { directory, record };
    }
    if problems.len() == known {
        problems.push(Problem::new(run, &file, "is missing"));
    }
    TrialData { directory, record: trial_without_record(record, summary) }
}

/// A case whose process died or is still running, or whose record is torn: what its trials tell of it.
fn without_case_record(
    run: &Path,
    directory: &Path,
    name: CaseDirectoryName,
    problems: &mut Vec<Problem>,
) -> io::Result<Option<CaseAttempt>> {
    let mut ended: Vec<TrialData> = Vec::new();
    let mut open: Option<Started> = None;
    for path in directories(directory)? {
        if let Some(record) = read_record::<TrialRecord>(run, &path.join(TRIAL_RECORD), problems) {
            ended.push(TrialData { directory: relative(run, &path), record });
        } else if let Some(started) = read_record::<Started>(run, &path.join(TRIAL_STARTED), problems) {
            open = Some(started);
        }
    }
    // Of several attempts at a trial, the last one counts; directories are sorted by trial and attempt.
    ended.reverse();
    ended.dedup_by_key(|trial| trial.record.trial);
    ended.reverse();
    let Some(record) = case_without_record(&name, &ended, open.as_ref()) else { return Ok(None) };
    let message = record.reason.as_ref().map(|reason| reason.message.clone()).unwrap_or_default();
    problems.push(Problem::new(run, &directory.join(CASE_RECORD), message));
    Ok(Some(CaseAttempt { name, directory: relative(run, directory), record, trials: ended }))
}

fn relative(run: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(run).unwrap_or(path).to_owned()
}
