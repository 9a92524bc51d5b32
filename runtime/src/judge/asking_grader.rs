//! A grader that asks judges: its identity, and the files of its questions and replies.

use std::path::PathBuf;

use evalsuite_records::record::Note;

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
}

impl AskingGrader {
    /// Writes a text to a file of the grader, in `folder` of its directory; returns the path relative to the trial's directory.
    pub(crate) fn write(&self, folder: &str, file: &str, text: &str) -> Result<String, Note> {
        self.files.write(&self.directory.join(folder), file, text)
    }
}
