//! The context of graders, in addition to their settings.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

use evalsuite_records::record::Note;
use evalsuite_schema::grader::Preprocessor;

use crate::judge::command_judge::JudgeSeal;
use crate::judge::grader_inquiry::GraderInquiry;
use crate::judge::judge_call::AskingGrader;
use crate::judge::judge_choice::JudgeChoice;
use crate::model::command::CommandEnvironment;
use crate::model::evals::Registry;
use crate::model::evidence::Evidence;
use crate::model::suite_location::SuiteLocation;
use crate::platform::digest::file_key;
use crate::platform::process::Captured;
use crate::platform::redaction::Redactor;
use crate::record::cassette::TrialCassette;
use crate::record::grader_files::GraderFiles;

/// The context of graders, in addition to their settings.
pub(crate) struct GradingContext<'a> {
    pub(crate) evidence: &'a Evidence<'a>,
    pub(crate) suite: &'a str,
    /// Effective threshold of the trial: the pass mark of graders without one of their own.
    pub(crate) threshold: f64,
    pub(crate) registry: &'a Registry,
    pub(crate) places: &'a SuiteLocation,
    pub(crate) environment: &'a CommandEnvironment,
    pub(crate) trial_dir: &'a Path,
    /// Records the replies of judges, or replays them.
    pub(crate) cassette: &'a TrialCassette,
    pub(crate) redactor: &'a Redactor,
    pub(crate) notes: &'a RefCell<Vec<Note>>,
    pub(crate) judges: &'a JudgeChoice,
    /// The accepted answer to the case, if there is one and a grader compares with it.
    pub(crate) accepted_answer: Option<&'a io::Result<Option<String>>>,
    /// Commands that turn output files into text, where a grader has none of its own.
    pub(crate) preprocessors: &'a [Preprocessor],
}

impl GradingContext<'_> {
    /// Directory for the files of a grader. It exists once a file is written to it.
    pub(crate) fn grader_directory(&self, path: &str) -> PathBuf {
        self.trial_dir.join("graders").join(file_key(path))
    }

    /// Writes the output of a command next to the record; returns its path relative to the trial's directory.
    pub(crate) fn write_output(&self, directory: &Path, file: &str, output: &Captured) -> Option<String> {
        if output.bytes.is_empty() {
            return None;
        }
        let written = self.grader_files().write(directory, file, &output.text());
        let written = written.map_err(|note| self.notes.borrow_mut().push(note)).ok()?;
        if output.truncated {
            let message = format!("{written}: only the first {} bytes are kept", output.bytes.len());
            self.notes.borrow_mut().push(Note::new("output_truncated", message));
        }
        Some(written)
    }

    /// The questions of the grader at `path` to judges.
    pub(crate) fn inquiry(&self, path: &str) -> GraderInquiry {
        let grader = AskingGrader {
            path: path.to_owned(),
            case_id: self.evidence.case_id().to_owned(),
            trial: self.evidence.trial(),
            directory: self.grader_directory(path),
            files: self.grader_files(),
            cassette: self.cassette.replies(),
            workspace: self.evidence.workspace().to_owned(),
            environment: self.environment.clone(),
            seal: JudgeSeal::default(),
        };
        GraderInquiry::new(grader, self.judges.clone())
    }

    /// Writes the files of graders.
    pub(crate) fn grader_files(&self) -> GraderFiles {
        GraderFiles::new(self.trial_dir, self.redactor)
    }
}
