//! A made-up result in a fresh workspace of its case, for graders that look at it.

use std::io;
use std::path::Path;

use evalsuite_schema::grader::Aggregator;
use evalsuite_schema::{Case, Grader, GraderConfig};

use crate::run::case_setup::CaseSetup;
use crate::run::made_up::made_up_grading::{Graders, MadeUpGrading, Surroundings};
use crate::run::made_up::{GradedResult, MadeUpResult};
use crate::run::trial::captured::changes_between;
use crate::run::trial::prepared::Prepared;
use crate::run::trial::trial_attempt::{EarlyEnd, TrialAttempt, guarded};
use crate::run::trial::{set_up, tear_down};
use crate::run::trial_result::TrialResult;
use crate::workspace::replayable_changes::ReplayableChanges;
use crate::workspace::snapshot::Snapshot;
use crate::workspace::{self, workspace_error};

/// The new file of a workspace that is spoiled.
const SPOILED_FILE: &str = "spoiled.txt";

/// Whether a grader, or a member of it, needs the workspace: a command, or, where the case defines the workspace, a grader in Rust.
pub(super) fn needs_workspace(grader: &Grader, case: &Case, commands: bool) -> bool {
    grader.with_members().any(|grader| match &grader.config {
        GraderConfig::CodeGrader(_) => commands,
        GraderConfig::Composite(composite) => commands && matches!(composite.aggregator, Aggregator::CodeGrader { .. }),
        GraderConfig::User { .. } => case.workspace.is_some(),
        _ => false,
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
