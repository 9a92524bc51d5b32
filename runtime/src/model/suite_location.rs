//! Directories of a suite while the program runs.

use std::path::{Component, Path, PathBuf};

use evalsuite_schema::PathRef;

use crate::model::suite::EvalSuite;

/// Directory for files from outside of the package.
const ELSEWHERE: &str = ".evalsuite-elsewhere";

/// File name of the running program.
pub(crate) fn program() -> String {
    let program = std::env::current_exe().ok();
    program.as_deref().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned()
}

/// Directories of a suite while this program runs.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    pub(crate) package_root: PathBuf,
    pub(crate) suite_dir: PathBuf,
}

/// Prefix of the environment variables in which build scripts name the directories they track. Cargo passes them to tests.
pub(crate) const OF_BUILDS: &str = "EVALSUITE_TRACKED_";

impl Places {
    pub(crate) fn of(suite: &EvalSuite) -> Self {
        let package_root = suite.package_root();
        let suite_dir = package_root.join(suite.root);
        Self { package_root, suite_dir }
    }

    /// The tracked directory that contains `directory`, if any. Files must not be written there: every new file causes a rebuild.
    pub(crate) fn watched(&self, directory: &Path) -> Option<String> {
        let (directory, suite) = (real(directory), real(&self.suite_dir));
        // The directory of a suite beside the manifest is the whole package, and is not tracked.
        if directory.starts_with(&suite) && !real(&self.package_root).starts_with(&suite) {
            return Some("the suite".to_owned());
        }
        let tracked = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with(OF_BUILDS));
        let mut tracked = tracked.map(|(_, directory)| PathBuf::from(directory));
        let found = tracked.find(|tracked| directory.starts_with(real(tracked)))?;
        Some(format!("{}, which the build script tracks", found.display()))
    }

    /// Absolute path of a path that the loader found.
    pub(crate) fn resolve(&self, path: &PathRef) -> PathBuf {
        self.join(&path.path)
    }

    /// Absolute path of a path relative to the package root.
    pub(crate) fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        if path.is_absolute() {
            let laid_out = inside(&self.package_root, path);
            return if laid_out.exists() { laid_out } else { path.to_owned() };
        }
        self.package_root.join(path)
    }
}

/// Path below `root` at which an embedded file is written.
pub(crate) fn inside(root: &Path, path: &Path) -> PathBuf {
    if path.is_relative() {
        return root.join(path);
    }
    let below = path.components().filter(|part| matches!(part, Component::Normal(_)));
    root.join(ELSEWHERE).join(below.collect::<PathBuf>())
}

/// The path without links and `..`, as far as it exists.
fn real(path: &Path) -> PathBuf {
    for directory in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (directory.canonicalize(), path.strip_prefix(directory)) {
            return real.join(rest);
        }
    }
    path.to_owned()
}
