//! Files that are written together, or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite_discovery::with_slashes;
use evalsuite_records::user_file::replace_user_text;

use crate::platform::cli_error::{CliError, ErrorContext, Result};
use crate::platform::output::stdout;

/// What is going to be written below a directory.
pub(super) struct Changes {
    root: PathBuf,
    list: Vec<Change>,
}

struct Change {
    path: PathBuf,
    text: String,
    /// What is changed in a file that exists; `None` for a new file.
    edit: Option<String>,
}

impl Changes {
    /// Paths are shown relative to `root`.
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), list: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Writes a file of its own.
    pub(super) fn create(&mut self, path: impl Into<PathBuf>, text: impl Into<String>) {
        self.list.push(Change { path: path.into(), text: text.into(), edit: None });
    }

    /// Writes the new text of a file of the user, which has everything that was in it.
    pub(super) fn edit(&mut self, path: impl Into<PathBuf>, text: impl Into<String>, what: impl Into<String>) {
        self.list.push(Change { path: path.into(), text: text.into(), edit: Some(what.into()) });
    }

    /// Writes all files and prints what was done.
    pub(super) fn write(self, force: bool) -> Result<()> {
        let is_taken = |change: &&Change| change.edit.is_none() && change.path.symlink_metadata().is_ok();
        let taken: Vec<String> = self.list.iter().filter(is_taken).map(|change| self.shown(change)).collect();
        if !taken.is_empty() && !force {
            let are = if taken.len() == 1 { "is" } else { "are" };
            let message = format!("{} {are} already there; nothing was written", taken.join(", "));
            return Err(CliError::with_help(message, "`--force` overwrites existing files"));
        }
        let mut out = stdout();
        for change in &self.list {
            let shown = self.shown(change);
            let did = match &change.edit {
                Some(_) => "changed",
                None if taken.contains(&shown) => "replaced",
                None => "created",
            };
            let written = change.path.parent().map_or(Ok(()), fs::create_dir_all);
            written.and_then(|()| replace_user_text(&change.path, &change.text)).at(Path::new(&shown))?;
            let what = change.edit.as_ref().map(|what| format!(": {what}")).unwrap_or_default();
            writeln!(out, "{did} {shown}{what}")?;
        }
        Ok(())
    }

    fn shown(&self, change: &Change) -> String {
        with_slashes(change.path.strip_prefix(&self.root).unwrap_or(&change.path))
    }
}

/// The text of a file; `None` if it does not exist.
pub(super) fn read_if_there(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some).at(path),
    }
}
