//! A suite whose cases grade made-up results, with the temporary directory that they share, and fresh workspaces for graders that look at
//! one.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use evalsuite_records::record::Mode;
use evalsuite_schema::{Case, Grader, GraderConfig};

use crate::model::evals::Evals;
use crate::model::suite::EvalCase;
use crate::record::run_directory::RunDirectory;
use crate::run::case_report::{CaseError, TrialResult};
use crate::run::case_setup::CaseSetup;
use crate::run::made_up::bounded_grading::{AllowedGraders, JudgeSpending};
use crate::run::made_up::grading::{Graders, MadeUpGrading, Surroundings};
use crate::run::made_up::{GradedResult, MadeUpResult};
use crate::run::session::Session;
use crate::run::settings::{Runner, Settings};
use crate::run::trial::captured::changes_between;
use crate::run::trial::prepared::Prepared;
use crate::run::trial::trial_attempt::{EarlyEnd, TrialAttempt, guarded};
use crate::run::trial::{set_up, tear_down};
use crate::workspace::replayable_changes::ReplayableChanges;
use crate::workspace::snapshot::Snapshot;
use crate::workspace::{self, workspace_error};

/// A suite whose cases grade made-up results. Its cases may be graded on several threads.
pub(crate) struct MadeUpSuite {
    pub(crate) evals: Evals,
    pub(crate) settings: Settings,
    /// A run of its own in the temporary directory.
    pub(crate) run: RunDirectory,
    pub(crate) allowed: AllowedGraders,
    /// How the replies of judges to examples are used: recorded, replayed, or neither.
    pub(crate) mode_of_examples: Mode,
    /// What judges have cost.
    pub(crate) judge_spending: JudgeSpending,
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
            budget_usd: settings.budget_usd,
            run_id: Some(run.run_id.clone()),
            runner: Runner { attempt: 1, total_attempts: 1, ..Runner::default() },
            ..Settings::default()
        };
        let judge_spending = JudgeSpending::new(&directory.0.join("spending"));
        let problems = Mutex::default();
        Ok(Self { evals, settings, run, allowed, mode_of_examples, judge_spending, directory, problems })
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

/// The new file of a workspace that is spoiled.
const SPOILED_FILE: &str = "spoiled.txt";

/// Whether a grader, or a member of it, needs the workspace: a command, or, where the case defines the workspace, a grader in Rust.
pub(super) fn needs_workspace(grader: &Grader, case: &Case, commands: bool) -> bool {
    grader.with_members().any(|grader| match &grader.config {
        GraderConfig::User { .. } => case.workspace.is_some(),
        config => commands && config.settings().command().is_some(),
    })
}

impl MadeUpGrading<'_> {
    /// Grades a result in a fresh workspace, between the hooks around a trial.
    pub(super) fn grade_in_workspace(
        &self,
        graders: Graders<'_>,
        result: &MadeUpResult,
    ) -> Result<GradedResult, EarlyEnd> {
        let mut setup = CaseSetup::begin(&self.plan).map_err(|error| workspace_error(&error))?;
        let number = self.attempts.get();
        self.attempts.set(number + 1);
        let base = setup.base().map_err(|error| workspace_error(&error))??;
        let trial = TrialAttempt::begin(&self.plan, base, 0, number).map_err(|error| workspace_error(&error))?;
        let prepared = Prepared::with_cassette(&trial, self.replies.cassette.clone())?;
        prepared.make_workspace()?;
        let graded = guarded(|| self.grade_prepared(graders, result, &prepared));
        let (outcome, score) = graded.as_ref().map_or_else(|end| (end.outcome, None), |graded| graded.worst);
        let answer = result.replies.last().filter(|_| graded.is_ok()).map(|reply| reply.answer.clone());
        let after = guarded(|| {
            tear_down(&prepared, &TrialResult { outcome, score, answer });
            Ok(())
        });
        drop(prepared);
        let TrialAttempt { directory, journal, .. } = trial;
        self.suite.add_problems(after.err().map(|end| end.reason.message));
        self.suite.add_problems(journal.into_inner().notes.into_iter().map(|note| note.message));
        self.suite.add_problems(workspace::remove_directory(&directory).err().map(|error| error.to_string()));
        graded
    }

    fn grade_prepared(
        &self,
        graders: Graders<'_>,
        result: &MadeUpResult,
        prepared: &Prepared<'_>,
    ) -> Result<GradedResult, EarlyEnd> {
        let trial = prepared.trial;
        let before = set_up(prepared)?;
        ReplayableChanges::of_texts(result.files.clone())
            .apply(&trial.workspace)
            .map_err(|error| workspace_error(&error))?;
        if result.spoils_workspace {
            spoil(&before, &trial.workspace).map_err(|error| workspace_error(&error))?;
        }
        let after = if result.changes_files() { before.take_later(&trial.workspace) } else { Ok(before.clone()) };
        let surroundings = Surroundings {
            directory: trial.directory.clone(),
            environment: prepared.environment.clone(),
            files: prepared.answer_files(),
            changes: changes_between(&before, &after)?,
        };
        Ok(self.grade_at(&surroundings, graders, result))
    }
}

/// Removes or overwrites every file of a workspace, and makes one.
fn spoil(workspace: &Snapshot, directory: &Path) -> io::Result<()> {
    let files = workspace.entries().filter(|(_, entry)| entry.as_file().is_some()).map(|(path, _)| path.clone());
    let spoiled = files.enumerate().map(|(index, path)| (path, (index % 2 == 1).then(|| "spoiled\n".to_owned())));
    let made = (SPOILED_FILE.to_owned(), Some(String::new()));
    ReplayableChanges::of_texts(spoiled.chain([made])).apply(directory)
}

impl Drop for MadeUpGrading<'_> {
    /// Ends the base of a case that has its own files or hooks.
    fn drop(&mut self) {
        if self.attempts.get() == 0 {
            return;
        }
        let ended = guarded(|| {
            let mut setup = CaseSetup::begin(&self.plan).map_err(|error| workspace_error(&error))?;
            // It was made for the first result; without this call, the setup does not know it.
            setup.base().map_err(|error| workspace_error(&error))??;
            Ok(setup.end(true))
        });
        self.suite.add_problems(ended.unwrap_or_else(|end| vec![end.reason.message]));
    }
}
