//! One attempt at a trial: its identity, its files and its notes.

use std::io;
use std::path::PathBuf;
use std::time::Instant;

use evalsuite_records::record::{Started, WorkspaceRecord};

use crate::model::suite_location::program;
use crate::platform::clock::timestamp;
use crate::platform::files::RedactedFiles;
use crate::platform::untrusted::UntrustedDirectory;
use crate::record::run_directory::layout::{TRIAL_STARTED, trial_directory_name};
use crate::run::plan::Plan;
use crate::run::trial::trial_log::TrialLog;
use crate::workspace;
use crate::workspace::WorkspaceBase;

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
