//! Ends a run that its tests have not ended: `cargo evalsuite finish`. Records of cases that have newer ones are removed.

use std::io;
use std::path::{Path, PathBuf};

use evalsuite_records::file_replacement::sorted_entries;
use evalsuite_records::record::RunSummary;

use crate::entry::run_error::RunError;
use crate::platform::file_lock::FileLock;
use crate::platform::files::{RedactedFiles, sorted_directories};
use crate::platform::redaction::Redactor;
use crate::platform::untrusted::UntrustedDirectory;
use crate::record::run_directory::layout::{
    BASE_WORKSPACES, CASE_RECORD, CASES, CaseDirectoryName, EARLIER_CASES, SUMMARY,
};
use crate::record::run_directory::{RunDirectory, StoredRun};
use crate::record::summary::summarize_run;
use crate::run::case::case_record::EarlierRecords;
use crate::run::case_setup::end_own_base;
use crate::run::session::Session;
use crate::run::settings::Settings;

/// Result of [`finish_run`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FinishedRun {
    /// Number of hooks that ran.
    pub hooks: u32,
    /// Hooks that failed, and files that could not be removed.
    pub problems: Vec<String>,
    /// Summary of the run's cases.
    pub summary: RunSummary,
    /// The file the summary was written to.
    pub file: PathBuf,
}

/// Runs the pending hooks after all tests of a run, removes its base workspaces and files of killed processes, and
/// writes its `summary.json`.
///
/// `run` is the directory of the run. Call this when no test of the run is running; further calls have no effect.
///
/// ```no_run
/// use std::path::Path;
///
/// let finished = evalsuite::tooling::finish_run(Path::new("target/evalsuite/runs/nightly"))?;
/// for suite in &finished.summary.suites {
///     println!("{}: {} cases", suite.suite, suite.cases.len());
/// }
/// # Ok::<(), evalsuite::RunError>(())
/// ```
///
/// # Errors
///
/// If the records of the run cannot be read or written.
pub fn finish_run(run: &Path) -> Result<FinishedRun, RunError> {
    let message = format!("run {} cannot be finished", run.display());
    let failed = |error: std::io::Error| RunError::records(message.as_str()).with_source(error);
    let run = RunDirectory::existing(std::path::absolute(run).map_err(failed)?);
    let echo = Settings::from_environment().map(|settings| settings.echo).unwrap_or_default();
    let (mut hooks, mut problems) = (0, Vec::new());
    // Hooks of cases run before the hooks of their suites.
    for suite in sorted_directories(&run.suites()).map_err(failed)? {
        for base in sorted_directories(&suite.join(BASE_WORKSPACES)).map_err(failed)? {
            let name = base.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let Some(case) = name.strip_prefix("case-") else { continue };
            let suite = suite.file_name().unwrap_or_default().to_string_lossy();
            let lock = run.locks().join(CaseDirectoryName::parse(case).lock_file(&suite));
            match FileLock::try_acquire(&lock) {
                Err(error) => problems.push(format!("{} is not removed: {error}", base.display())),
                Ok(Some(_lock)) => {
                    let (had_hook, found) = end_own_base(&run.locks(), &base, echo);
                    hooks += u32::from(had_hook);
                    problems.extend(found);
                }
                Ok(None) => problems.push(format!("{} is still used by a test", base.display())),
            }
        }
    }
    let (sessions, unreadable) = Session::all(&run).map_err(failed)?;
    problems.extend(unreadable);
    for session in sessions {
        match session.end(echo) {
            Ok(ended) => {
                hooks += ended.hooks;
                problems.extend(ended.problems);
            }
            Err(error) => problems.push(error.to_string()),
        }
    }
    if let Some(stored) = StoredRun::open(run.path())
        && !stored.is_in_use().map_err(failed)?
    {
        stored.remove_leftovers().map_err(failed)?;
        for suite in sorted_directories(&run.suites()).map_err(failed)? {
            remove_replaced(&suite).map_err(failed)?;
        }
    }
    if run.suites().symlink_metadata().is_ok_and(|found| !found.is_dir()) {
        problems.push(format!("{} is not a directory", run.suites().display()));
    }
    let summary = summarize_run(run.path()).map_err(|error| RunError::records(error.to_string()))?;
    let file = run.path().join(SUMMARY);
    UntrustedDirectory::new(run.path()).write_record(SUMMARY, &summary, &Redactor::default()).map_err(failed)?;
    Ok(FinishedRun { hooks, problems, summary, file })
}

/// Removes the earlier records of cases whose new ones are whole: their process was killed before it did so. `suite` is the
/// directory of a suite in which no test is running.
fn remove_replaced(suite: &Path) -> io::Result<()> {
    for earlier in sorted_entries(&suite.join(EARLIER_CASES))? {
        let case = suite.join(CASES).join(earlier.file_name().unwrap_or_default());
        if case.join(CASE_RECORD).is_file() {
            EarlierRecords::of(&case).remove()?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::run::case::case_record::set_aside;

    #[test]
    fn earlier_records_are_removed_once_there_are_new_ones() {
        let root = tempfile::tempdir().unwrap();
        let case = root.path().join("cases/a-12345678");
        let write = || {
            fs::create_dir_all(&case).unwrap();
            fs::write(case.join("case.json"), "").unwrap();
        };
        write();
        // The process dies before the earlier records are removed.
        let _ = set_aside(&case).unwrap();
        remove_replaced(root.path()).unwrap();
        assert!(root.path().join("earlier/a-12345678/case.json").is_file(), "there are no new records yet");
        write();
        remove_replaced(root.path()).unwrap();
        assert!(!root.path().join("earlier").exists());
        assert!(case.join("case.json").is_file());
    }
}
