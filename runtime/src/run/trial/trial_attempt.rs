//! One attempt at a trial: its directory, what is known of it so far, and why it ends before grading.

use std::cell::{OnceCell, RefCell};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use evalsuite_records::record::{Note, Reason, ReasonCode, Stage, Started, Status, Timings, TrialRecord};
use evalsuite_schema::Value;
use evalsuite_schema::sorting::map;

use crate::grade::scoring::TrialScore;
use crate::model::evidence::Evidence;
use crate::model::interpolation::Unresolved;
use crate::model::suite_location::program;
use crate::platform::clock::Stopwatch;
use crate::platform::files::RedactedFiles;
use crate::platform::isolated_call::panic_message;
use crate::platform::untrusted::UntrustedDirectory;
use crate::record::run_directory::layout::{TRIAL_STARTED, trial_directory_name};
use crate::run::plan::Plan;
use crate::run::selection::requirements;
use crate::workspace::{self, WorkspaceBase};

/// One attempt at a trial. What a phase adds to its record stays, however the phase ends.
pub(crate) struct TrialAttempt<'a> {
    pub(crate) plan: &'a Plan<'a>,
    pub(crate) base: &'a WorkspaceBase,
    /// Index of the trial, from 0.
    pub(crate) index: u32,
    /// Where its files go.
    pub(crate) directory: PathBuf,
    pub(crate) workspace: PathBuf,
    pub(crate) clock: Stopwatch,
    pub(crate) record: RefCell<TrialRecord>,
    /// What the agent did, as far as it is known, once it was called.
    pub(crate) evidence: OnceCell<Evidence<'static>>,
}

impl<'a> TrialAttempt<'a> {
    /// Makes the directory of the attempt, with `started.json` in it. `number` counts the attempts at the trial, from 0.
    pub(crate) fn begin(plan: &'a Plan<'a>, base: &'a WorkspaceBase, index: u32, number: u32) -> io::Result<Self> {
        let directory = plan.directory.join(trial_directory_name(index, number));
        workspace::remove_directory(&directory)?;
        let workspace = match base {
            WorkspaceBase::Shared { directory, .. } => directory.clone(),
            WorkspaceBase::Template | WorkspaceBase::Copied { .. } => directory.join("workspace"),
        };
        let clock = Stopwatch::start();
        let mut record = new_record(plan, clock);
        (record.trial, record.attempt) = (index, number);
        UntrustedDirectory::new(&directory).write_json(TRIAL_STARTED, &started(plan, &record), &plan.redactor)?;
        let (record, evidence) = (RefCell::new(record), OnceCell::new());
        Ok(Self { plan, base, index, directory, workspace, clock, record, evidence })
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
        self.record.borrow_mut().notes.extend(notes);
    }

    /// Records what graders decide.
    pub(crate) fn decide(&self, score: TrialScore) {
        let mut record = self.record.borrow_mut();
        (record.outcome, record.score, record.reason) = (score.outcome, score.score, score.reason);
        record.notes.extend(score.notes);
    }

    /// Runs a step and adds the time it takes to one of the timings.
    pub(crate) fn timed<T>(&self, timing: fn(&mut Timings) -> &mut u64, step: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = step();
        *timing(&mut self.record.borrow_mut().timings) += whole_millis(start.elapsed());
        result
    }
}

/// What the record of a trial says before its first phase.
fn new_record(plan: &Plan<'_>, clock: Stopwatch) -> TrialRecord {
    let mut record = TrialRecord::of_case(&plan.case_record());
    record.trials_planned = plan.planned;
    record.mode = plan.settings.mode;
    record.regraded_run = plan.regraded.as_ref().and_then(|found| Some(found.as_ref().ok()?.run_id.clone()));
    record.started_at = clock.started_at();
    let outcomes = plan.dependencies.iter().map(|(id, dependency)| (id.clone(), dependency.status()));
    record.dependencies = map(outcomes);
    record.metadata = plan.case.metadata.clone();
    record.tags = plan.tags();
    record.category = plan.data.category.clone();
    record.conversation_id = plan.case.conversation_id.clone();
    record.failure_bucket = plan.case.metadata.get("failure_bucket").and_then(Value::as_str).map(str::to_owned);
    record.versions.evalsuite = env!("CARGO_PKG_VERSION").to_owned();
    record.versions.package = format!("{} {}", plan.suite.package, plan.suite.package_version);
    record.versions.os = std::env::consts::OS.to_owned();
    record.versions.arch = std::env::consts::ARCH.to_owned();
    record
}

fn started(plan: &Plan<'_>, record: &TrialRecord) -> Started {
    let mut started = Started::new();
    started.run_id.clone_from(&record.run_id);
    started.suite.clone_from(&record.suite);
    started.case_id.clone_from(&record.case_id);
    started.test_name.clone_from(&record.test_name);
    started.module = plan.suite.module_path.to_owned();
    started.program = program();
    started.target.clone_from(&record.target);
    started.trial = record.trial;
    started.pid = std::process::id();
    started.lock = format!("locks/{}", plan.case_directory.lock_file());
    started.started_at.clone_from(&record.started_at);
    started.case_digest.clone_from(&record.case_digest);
    started.input_digest.clone_from(&record.input_digest);
    started.grader_digest.clone_from(&record.grader_digest);
    started.location.clone_from(&record.location);
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

    /// Ends a trial that its graders have not decided.
    pub(crate) fn end(self, trial: &TrialAttempt<'_>) {
        let record = &mut *trial.record.borrow_mut();
        (record.outcome, record.reason) = (self.outcome, Some(self.reason));
        requirements::refuse_skip(trial.plan.settings, &mut record.outcome, &mut record.reason);
    }
}

/// The trial ends in an error.
impl From<Reason> for EarlyEnd {
    fn from(reason: Reason) -> Self {
        Self { outcome: Status::Error, reason }
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
