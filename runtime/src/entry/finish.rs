//! The end of a run that no test has ended: `cargo evalsuite finish`.

use std::path::{Path, PathBuf};

use evalsuite_schema::record::RunSummary;

use crate::{
    platform::{
        file_lock::FileLock,
        files::{sorted_entries, write_json},
        redaction::Redactor,
    },
    record::{run_directory::RunDirectory, summary},
    run::{Session, end_own_base, settings::Settings},
};

/// What it took to end a run.
#[derive(Debug)]
pub struct Finished {
    /// Hooks that ran.
    pub hooks: u32,
    /// Hooks that failed, and what could not be removed.
    pub problems: Vec<String>,
    /// What its cases came to.
    pub summary: RunSummary,
    /// Where that was written.
    pub file: PathBuf,
}

/// Runs the hooks after all tests that are still owed, removes base workspaces and writes `summary.json`. It can be
/// called again and again, and while nothing of the run is running.
///
/// # Errors
///
/// If the run's files cannot be read or written.
pub fn finish(run: &Path) -> Result<Finished, String> {
    let failed = |error: std::io::Error| format!("run {} cannot be finished: {error}", run.display());
    let run = RunDirectory::at(std::path::absolute(run).map_err(failed)?);
    let echo = Settings::from_environment().map(|settings| settings.echo).unwrap_or_default();
    let (mut hooks, mut problems) = (0, Vec::new());
    // What cases owe lies inside of what their suites owe.
    for suite in sorted_entries(&run.path().join("suites")).map_err(failed)? {
        for base in sorted_entries(&suite.join("base")).map_err(failed)? {
            let name = base.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let Some(case) = name.strip_prefix("case-") else { continue };
            match FileLock::try_acquire(&run.locks().join(lock_of(case))).map_err(failed)? {
                Some(_lock) => {
                    let (had_hook, found) = end_own_base(&run.locks(), &base, echo);
                    hooks += u32::from(had_hook);
                    problems.extend(found);
                }
                None => problems.push(format!("{} is still used by a test", base.display())),
            }
        }
    }
    for session in Session::all(&run).map_err(failed)? {
        let closed = session.end(echo).map_err(failed)?;
        hooks += closed.hooks;
        problems.extend(closed.problems);
    }
    let summary = summary::of_run(run.path(), &run.run_id).map_err(failed)?;
    let file = run.path().join("summary.json");
    write_json(&file, &summary, &Redactor::default()).map_err(failed)?;
    Ok(Finished { hooks, problems, summary, file })
}

/// The lock of a case by the name of its directory: stress runs of a case share it.
fn lock_of(case: &str) -> String {
    let name = case.split_once(".stress-").map_or(case, |(name, _)| name);
    format!("{name}.lock")
}
