//! What the campaign found, and where it is kept.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What a part of the campaign found.
#[derive(Debug)]
pub(crate) struct Findings {
    directory: PathBuf,
    /// One line each.
    pub(crate) lines: Vec<String>,
}

impl Findings {
    /// Findings that are kept in a directory.
    pub(crate) fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), lines: Vec::new() }
    }

    /// Adds problems, and keeps a copy of the files that they are about.
    pub(crate) fn report(&mut self, what: &str, problems: &[String], files: &Path) {
        if problems.is_empty() {
            return;
        }
        let kept = self.directory.join(what.replace([' ', ',', '/'], "-"));
        // Without the copy, the problem is still reported.
        let _ = std::fs::create_dir_all(&self.directory);
        let _ = Command::new("cp").arg("-a").arg(files).arg(&kept).status();
        self.lines.extend(problems.iter().map(|problem| format!("{what}: {problem} ({})", kept.display())));
    }
}
