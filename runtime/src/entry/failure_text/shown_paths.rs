//! Paths as the text of a failing test shows them.

use std::path::{Path, PathBuf};

use crate::run::case_report::CaseReport;

/// Shows paths relative to the directory that the places in a suite's files are relative to: the root of the package, or of the
/// workspace it belongs to. Both are then found from where cargo is run.
pub(super) struct ShownPaths {
    base: Option<PathBuf>,
}

impl ShownPaths {
    pub(super) fn of(report: &CaseReport) -> Self {
        let package = report.suite().package_root();
        let has_case = |directory: &&Path| directory.join(&report.record().location.file).is_file();
        let base = package.ancestors().find(has_case).map(Path::to_owned);
        Self { base: base.or_else(|| std::env::current_dir().ok()) }
    }

    /// The path, relative to the base if it is below it.
    pub(super) fn show(&self, path: &Path) -> String {
        let relative = self.base.as_deref().and_then(|base| path.strip_prefix(base).ok());
        relative.unwrap_or(path).display().to_string()
    }
}
