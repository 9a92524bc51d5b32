//! A suite whose cases grade made-up results, with the temporary directory that they share.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use evalsuite_records::record::Mode;

use crate::model::evals::Evals;
use crate::model::suite::EvalCase;
use crate::record::run_directory::RunDirectory;
use crate::run::case_error::CaseError;
use crate::run::made_up::bounded_grading::AllowedGraders;
use crate::run::made_up::made_up_grading::MadeUpGrading;
use crate::run::session::Session;
use crate::run::settings::{Runner, Settings};
use crate::workspace;

/// A suite whose cases grade made-up results. Its cases may be graded on several threads.
pub(crate) struct MadeUpSuite {
    pub(crate) evals: Evals,
    pub(crate) settings: Settings,
    /// A run of its own in the temporary directory.
    pub(crate) run: RunDirectory,
    pub(crate) allowed: AllowedGraders,
    /// How the replies of judges to examples are used: recorded, replayed, or neither.
    pub(crate) mode_of_examples: Mode,
    directory: TemporaryDirectory,
    problems: Mutex<Vec<String>>,
}

impl MadeUpSuite {
    /// A suite in a program. `allowed.judges`: judges are asked; otherwise they reply from the recordings of their cases, where there are any.
    pub(crate) fn new(evals: Evals, settings: &Settings, allowed: AllowedGraders) -> io::Result<Self> {
        let directory = TemporaryDirectory::make()?;
        let run = RunDirectory::existing(directory.0.join("runs").join("made-up"));
        let mode_of_examples = settings.judge_mode();
        let settings = Settings {
            // No agent is called, and variables that only agents need may be unset.
            mode: Mode::Regrade,
            threshold: settings.threshold,
            targets: settings.targets.clone(),
            cassettes: settings.cassettes.clone(),
            targets_file: settings.targets_file.clone(),
            judge: settings.judge.clone(),
            run_id: Some(run.run_id.clone()),
            runner: Runner { attempt: 1, total_attempts: 1, ..Runner::default() },
            ..Settings::default()
        };
        Ok(Self { evals, settings, run, allowed, mode_of_examples, directory, problems: Mutex::default() })
    }

    /// A case, to grade made-up results of it.
    pub(crate) fn case(&self, entry: &'static EvalCase) -> Result<MadeUpGrading<'_>, CaseError> {
        MadeUpGrading::new(self, entry)
    }

    /// Adds problems of hooks and files, which say nothing about a result.
    pub(crate) fn add_problems(&self, problems: impl IntoIterator<Item = String>) {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner).extend(problems);
    }

    /// Runs the hooks after all cases and removes the temporary directory; returns the problems of hooks and files.
    pub(crate) fn end(self) -> Vec<String> {
        let mut problems = self.problems.into_inner().unwrap_or_else(PoisonError::into_inner);
        problems.extend(Session::end_of(self.evals.suite(), &self.settings, &self.run));
        problems.extend(workspace::remove_directory(&self.directory.0).err().map(|error| error.to_string()));
        problems
    }
}

/// A directory that is removed with its owner.
struct TemporaryDirectory(PathBuf);

impl TemporaryDirectory {
    fn make() -> io::Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let parent = std::env::temp_dir();
        loop {
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            let directory = parent.join(format!("evalsuite-made-up-{}-{number}", std::process::id()));
            match make_private(&directory) {
                Ok(()) => return Ok(Self(directory)),
                // A process with the same id was killed, or somebody else owns the name.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(io::Error::new(error.kind(), format!("{}: {error}", directory.display())));
                }
            }
        }
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        // It is still there only if its owner is dropped early, where the caller reports another error.
        let _ = workspace::remove_directory(&self.0);
    }
}

fn make_private(directory: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        fs::DirBuilder::new().mode(0o700).create(directory)
    }
    #[cfg(not(unix))]
    fs::create_dir(directory)
}
