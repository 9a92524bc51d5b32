//! A grader that asks judges: its identity, and the files of its questions and replies.

use std::path::PathBuf;

use evalsuite_records::record::Note;

use crate::judge::judge_call;
use crate::judge::judge_choice::ChosenJudge;
use crate::judge::judge_options::JudgeOptions;
use crate::model::cassette::Cassette;
use crate::model::command::CommandEnvironment;
use crate::model::judge::{JudgeError, JudgeReply, JudgeRequest};
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
    /// Sends a request to a judge, or takes the reply from the cassette. `options` apply where the request sets nothing.
    pub(crate) fn ask(
        &self,
        judge: &ChosenJudge,
        mut request: JudgeRequest,
        options: &JudgeOptions,
    ) -> Result<JudgeReply, JudgeError> {
        request.case_id.clone_from(&self.case_id);
        request.trial = self.trial;
        request.temperature = request.temperature.or(options.temperature);
        request.limit = request.limit.or(options.limit);
        judge_call::ask(judge, &self.path, request, &self.cassette)
    }

    /// Writes a text to a file of the grader, in `folder` of its directory; returns the path relative to the trial's directory.
    pub(crate) fn write(&self, folder: &str, file: &str, text: &str) -> Result<String, Note> {
        self.files.write(&self.directory.join(folder), file, text)
    }
}
