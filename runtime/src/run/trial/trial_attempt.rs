//! One attempt at a trial: its identity, its files, and its log with notes, hooks and times.

use std::cell::RefCell;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use evalsuite_records::record::{HookRecord, Note, Started, Timings, WorkspaceRecord};

use crate::model::suite_location::program;
use crate::platform::clock::timestamp;
use crate::platform::files::RedactedFiles;
use crate::platform::untrusted::UntrustedDirectory;
use crate::record::run_directory::layout::{TRIAL_STARTED, trial_directory_name};
use crate::run::plan::Plan;
use crate::workspace::{self, WorkspaceBase};

/// One attempt at a trial.
pub(crate) struct TrialAttempt<'a> {
    pub(crate) plan: &'a Plan<'a>,
    pub(crate) base: &'a WorkspaceBase,
    /// Index of the trial, from 0.
    pub(crate) index: u32,
    /// Number of the attempt, from 0.
    pub(crate) number: u32,
    /// Where its files go.
    pub(crate) directory: PathBuf,
    pub(crate) workspace: PathBuf,
    pub(crate) started_at: String,
    pub(crate) clock: Instant,
    pub(crate) log: TrialLog,
}

impl<'a> TrialAttempt<'a> {
    /// Makes the directory of the attempt, with `started.json` in it.
    pub(crate) fn begin(plan: &'a Plan<'a>, base: &'a WorkspaceBase, index: u32, number: u32) -> io::Result<Self> {
        let directory = plan.records.directory.join(trial_directory_name(index, number));
        workspace::remove_directory(&directory)?;
        let workspace = match base {
            WorkspaceBase::Shared { directory, .. } => directory.clone(),
            WorkspaceBase::Template | WorkspaceBase::Copied { .. } => directory.join("workspace"),
        };
        let case = plan.case_record();
        let mut started = Started::new();
        (started.run_id, started.suite, started.case_id) = (case.run_id, case.suite, case.case_id);
        (started.test_name, started.program, started.target) = (case.test_name, program(), case.target);
        started.module = case.module;
        (started.case_digest, started.input_digest) = (case.case_digest, case.input_digest);
        (started.grader_digest, started.location) = (case.grader_digest, case.location);
        started.trial = index;
        started.pid = std::process::id();
        started.lock = format!("locks/{}", plan.records.place.lock_file());
        started.started_at = timestamp();
        UntrustedDirectory::new(&directory).write_json(TRIAL_STARTED, &started, &plan.redactor)?;
        let (started_at, clock) = (started.started_at, Instant::now());
        Ok(Self { plan, base, index, number, directory, workspace, started_at, clock, log: TrialLog::default() })
    }

    /// The workspace as the record shows it where nothing is known of its changes.
    pub(crate) fn workspace_record(&self) -> WorkspaceRecord {
        let mut record = WorkspaceRecord::default();
        (record.path, record.kept) = (self.workspace.display().to_string(), true);
        record
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
            self.log.note("output_not_kept", format!("{}: {error}", path.display()));
        }
        written.is_ok()
    }
}

/// The notes, hooks and timings of a trial. What a phase adds stays, however the phase ends.
#[derive(Debug, Default)]
pub(crate) struct TrialLog(RefCell<LogEntries>);

/// Everything in a [`TrialLog`], in order.
#[derive(Debug, Default)]
pub(crate) struct LogEntries {
    pub(crate) notes: Vec<Note>,
    pub(crate) hooks: Vec<HookRecord>,
    pub(crate) timings: Timings,
}

impl TrialLog {
    pub(crate) fn note(&self, code: &str, message: impl Into<String>) {
        self.add_notes([Note::new(code, message)]);
    }

    pub(crate) fn add_notes(&self, notes: impl IntoIterator<Item = Note>) {
        self.0.borrow_mut().notes.extend(notes);
    }

    /// Adds a note unless the log has it.
    pub(crate) fn add_note_once(&self, note: Note) {
        let mut entries = self.0.borrow_mut();
        if !entries.notes.contains(&note) {
            entries.notes.push(note);
        }
    }

    pub(crate) fn add_hook(&self, hook: HookRecord) {
        self.0.borrow_mut().hooks.push(hook);
    }

    /// Runs a step and adds the time it takes to one of the timings.
    pub(crate) fn timed<T>(&self, timing: fn(&mut Timings) -> &mut u64, step: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = step();
        *timing(&mut self.0.borrow_mut().timings) += whole_millis(start.elapsed());
        result
    }

    pub(crate) fn into_entries(self) -> LogEntries {
        self.0.into_inner()
    }
}

pub(crate) fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
