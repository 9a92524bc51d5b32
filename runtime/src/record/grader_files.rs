//! The files that graders write next to the record of a trial.

use std::path::{Path, PathBuf};

use evalsuite_records::record::Note;
use evalsuite_schema::discovery::with_slashes;

use crate::platform::redaction::Redactor;
use crate::platform::untrusted::UntrustedDirectory;

/// Writes the files of a trial's graders, without secrets.
#[derive(Debug, Clone)]
pub(crate) struct GraderFiles {
    trial_dir: PathBuf,
    redactor: Redactor,
}

impl GraderFiles {
    pub(crate) fn new(trial_dir: &Path, redactor: &Redactor) -> Self {
        Self { trial_dir: trial_dir.to_owned(), redactor: redactor.clone() }
    }

    pub(crate) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// A directory in the trial's.
    pub(crate) fn directory(&self, path: &Path) -> UntrustedDirectory {
        // A path that is not below it is refused when it is used.
        UntrustedDirectory::new(&self.trial_dir).join(path.strip_prefix(&self.trial_dir).unwrap_or(path))
    }

    /// Writes a text; returns its path relative to the trial's directory.
    pub(crate) fn write(&self, directory: &Path, file: &str, text: &str) -> Result<String, Note> {
        let path = directory.join(file);
        self.directory(directory)
            .write(file, self.redactor.apply(text).as_bytes())
            .map_err(|error| Note::new("output_not_kept", format!("{}: {error}", path.display())))?;
        Ok(with_slashes(path.strip_prefix(&self.trial_dir).unwrap_or(&path)))
    }
}
