//! One attempt at a trial: its directory, what happens around the work of its agent, and why it ends before grading.

use std::cell::RefCell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use evalsuite_records::record::{
    HookRecord, ModelCalls, Note, Reason, ReasonCode, SealRecord, Stage, Started, Status, Timings, WorkspaceRecord,
};

use crate::grade::scoring::TrialScore;
use crate::model::interpolation::Unresolved;
use crate::model::suite_location::program;
use crate::platform::clock::Stopwatch;
use crate::platform::errors::panic_message;
use crate::platform::files::RedactedFiles;
use crate::platform::untrusted::UntrustedDirectory;
use crate::record::run_directory::layout::{TRIAL_STARTED, trial_directory_name};
use crate::run::plan::Plan;
use crate::run::selection;
use crate::run::settings::Settings;
use crate::workspace::{self, WorkspaceBase};

/// One attempt at a trial.
pub(crate) struct TrialAttempt<'a> {
    pub(crate) plan: &'a Plan<'a>,
    pub(crate) base: &'a WorkspaceBase,
    /// Index of the trial, from 0.
    pub(crate) index: u32,
    /// Number of the attempt at the trial, from 0.
    pub(crate) number: u32,
    /// Where its files go.
    pub(crate) directory: PathBuf,
    pub(crate) workspace: PathBuf,
    pub(crate) clock: Stopwatch,
    pub(crate) journal: RefCell<Journal>,
}

/// What happens around the work of an agent and its grading. What a phase adds stays, however the phase ends; the record of the trial has
/// it in the end.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    pub(crate) notes: Vec<Note>,
    pub(crate) timings: Timings,
    pub(crate) hooks: Vec<HookRecord>,
    /// Whether the agent is sealed.
    pub(crate) sealed: Option<SealRecord>,
    /// What became of the calls of models, if they are recorded or replayed.
    pub(crate) model_calls: Option<ModelCalls>,
    /// The workspace, and what the agent changed in it.
    pub(crate) workspace: Option<WorkspaceRecord>,
}

impl<'a> TrialAttempt<'a> {
    /// Makes the directory of the attempt, with `started.json` in it.
    pub(crate) fn begin(plan: &'a Plan<'a>, base: &'a WorkspaceBase, index: u32, number: u32) -> io::Result<Self> {
        let directory = plan.directory.join(trial_directory_name(index, number));
        workspace::remove_directory(&directory)?;
        let workspace = match base {
            WorkspaceBase::Shared { directory, .. } => directory.clone(),
            WorkspaceBase::Template | WorkspaceBase::Copied { .. } => directory.join("workspace"),
        };
        let clock = Stopwatch::start();
        UntrustedDirectory::new(&directory).write_json(TRIAL_STARTED, &started(plan, index, clock), &plan.redactor)?;
        Ok(Self { plan, base, index, number, directory, workspace, clock, journal: RefCell::default() })
    }

    /// The directory of the attempt, which its programs may change.
    pub(crate) fn files(&self) -> UntrustedDirectory {
        UntrustedDirectory::new(&self.directory)
    }

    /// Writes a text next to the record, without secrets. A failure is noted: the record is still to come.
    pub(crate) fn write_text(&self, file: &str, text: &str) -> bool {
        let path = self.directory.join(file);
        let written = self.files().write(file, self.plan.redactor.apply(text).as_bytes());
        if let Err(error) = &written {
            self.note("output_not_kept", format!("{}: {error}", path.display()));
        }
        written.is_ok()
    }

    pub(crate) fn note(&self, code: &str, message: impl Into<String>) {
        self.add_notes([Note::new(code, message)]);
    }

    pub(crate) fn add_notes(&self, notes: impl IntoIterator<Item = Note>) {
        self.journal.borrow_mut().notes.extend(notes);
    }

    /// Runs a step and adds the time it takes to one of the timings.
    pub(crate) fn timed<T>(&self, timing: fn(&mut Timings) -> &mut u64, step: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = step();
        *timing(&mut self.journal.borrow_mut().timings) += whole_millis(start.elapsed());
        result
    }
}

fn started(plan: &Plan<'_>, trial: u32, clock: Stopwatch) -> Started {
    let mut started = Started::new();
    let case = &plan.identity;
    started.run_id.clone_from(&case.run_id);
    started.suite.clone_from(&case.suite);
    started.case_id.clone_from(&case.case_id);
    started.test_name.clone_from(&case.test_name);
    started.module = plan.suite.module_path.to_owned();
    started.program = program();
    started.target.clone_from(&case.target);
    started.trial = trial;
    started.pid = std::process::id();
    started.lock = format!("locks/{}", plan.case_directory.lock_file());
    started.started_at = clock.started_at();
    started.case_digest.clone_from(&case.case_digest);
    started.input_digest.clone_from(&case.input_digest);
    started.grader_digest.clone_from(&case.grader_digest);
    started.location.clone_from(&case.location);
    started
}

pub(crate) fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The outcome of a trial that ends before its graders, and the reason.
#[derive(Debug, Clone)]
pub(crate) struct EarlyEnd {
    pub(crate) outcome: Status,
    pub(crate) reason: Reason,
}

impl EarlyEnd {
    pub(crate) fn error(stage: Stage, code: ReasonCode, message: impl Into<String>) -> Self {
        Reason::new(stage, code, message).into()
    }

    /// The score of a trial that its graders have not decided.
    pub(crate) fn into_score(self, settings: &Settings) -> TrialScore {
        let mut score = TrialScore { outcome: self.outcome, score: None, reason: Some(self.reason), notes: Vec::new() };
        selection::refuse_skip(settings, &mut score.outcome, &mut score.reason);
        score
    }
}

/// The trial ends in an error.
impl From<Reason> for EarlyEnd {
    fn from(reason: Reason) -> Self {
        Self { outcome: Status::Error, reason }
    }
}

impl From<(Status, Reason)> for EarlyEnd {
    fn from((outcome, reason): (Status, Reason)) -> Self {
        Self { outcome, reason }
    }
}

impl From<Unresolved> for EarlyEnd {
    fn from(unresolved: Unresolved) -> Self {
        Reason::new(Stage::Setup, ReasonCode::VariableUnset, unresolved.message)
            .with_location(unresolved.location)
            .into()
    }
}

/// Runs a phase of a trial. Agents, graders and judges panic on threads of their own, so a panic here is a defect of this
/// crate. The trial ends early then, as after an error, and still has its hooks and its record.
pub(crate) fn guarded<T>(phase: impl FnOnce() -> Result<T, EarlyEnd>) -> Result<T, EarlyEnd> {
    catch_unwind(AssertUnwindSafe(phase)).unwrap_or_else(|panic| {
        let message = format!("evalsuite panicked; this is a defect of evalsuite: {}", panic_message(&*panic));
        Err(EarlyEnd::error(Stage::Teardown, ReasonCode::ProcessDied, message))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_a_phase_as_an_error_does() {
        let end = guarded::<()>(|| std::panic::resume_unwind(Box::new("index out of bounds"))).unwrap_err();
        assert_eq!((end.outcome, end.reason.stage), (Status::Error, Stage::Teardown));
        assert!(end.reason.message.ends_with("a defect of evalsuite: index out of bounds"), "{}", end.reason.message);
        assert!(guarded(|| Ok(())).is_ok());
    }
}
