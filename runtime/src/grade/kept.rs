//! Files beside a record.

use std::{
    fs,
    path::{Path, PathBuf},
};

use evalsuite_schema::record::Note;

use crate::platform::redaction::Redactor;

/// Where the files of a trial's graders go.
#[derive(Debug, Clone)]
pub(crate) struct KeptFiles {
    trial_dir: PathBuf,
    redactor: Redactor,
}

impl KeptFiles {
    pub(crate) fn new(trial_dir: &Path, redactor: &Redactor) -> Self {
        Self { trial_dir: trial_dir.to_owned(), redactor: redactor.clone() }
    }

    pub(crate) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Keeps a text without secrets; its path relative to the trial's directory.
    ///
    /// # Errors
    ///
    /// A note that it could not be kept.
    pub(crate) fn keep(&self, directory: &Path, file: &str, text: &str) -> Result<String, Note> {
        let path = directory.join(file);
        fs::create_dir_all(directory)
            .and_then(|()| fs::write(&path, self.redactor.apply(text)))
            .map_err(|error| Note::new("output_not_kept", format!("{}: {error}", path.display())))?;
        let relative = path.strip_prefix(&self.trial_dir).unwrap_or(&path);
        Ok(relative.display().to_string())
    }
}
