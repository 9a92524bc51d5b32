//! The grader that asks judges, and whether the commands that it asks are sealed.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use evalsuite_records::record::SealRecord;

use crate::model::cassette::Cassette;
use crate::model::command::CommandEnvironment;
use crate::record::grader_files::GraderFiles;

/// A grader of a trial that asks judges.
pub(crate) struct AskingGrader {
    /// Name of the grader, below the names of the composites around it.
    pub(crate) path: String,
    pub(crate) case_id: String,
    /// Index of the trial.
    pub(crate) trial: u32,
    /// Where the files of the grader go.
    pub(crate) directory: PathBuf,
    pub(crate) files: GraderFiles,
    pub(crate) cassette: Cassette,
    pub(crate) workspace: PathBuf,
    pub(crate) environment: CommandEnvironment,
    pub(crate) seal: JudgeSeal,
}

/// Whether the kernel confined the commands that a grader has asked so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct JudgeSeal(Arc<Mutex<Option<SealRecord>>>);

impl JudgeSeal {
    /// Of several commands, those without a seal count.
    pub(crate) fn add(&self, started: &SealRecord) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref().is_none_or(|known| !known.is_unsealed()) {
            *known = Some(started.clone());
        }
    }

    /// `None`: no command was asked.
    pub(crate) fn record(&self) -> Option<SealRecord> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
