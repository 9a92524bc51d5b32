//! Where the files of a suite are while a test program runs.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use evalsuite_schema::PathRef;

use crate::model::suite::{EvalCase, EvalSuite};

/// Name of the directory for files from outside the package.
const OUTSIDE_PACKAGE: &str = ".evalsuite-elsewhere";

/// File name of the running program.
pub(crate) fn program() -> String {
    static EXECUTABLE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let executable = EXECUTABLE.get_or_init(|| std::env::current_exe().ok()).as_deref();
    executable.and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned()
}

/// Directory of the package, even if the suite's files are elsewhere: cassettes and baselines are stored with its sources.
pub(crate) fn package_directory(suite: &EvalSuite) -> PathBuf {
    suite.manifest_dir_where(|directory| directory.is_dir())
}

/// Directories of a suite while this program runs.
#[derive(Debug, Clone)]
pub(crate) struct SuiteLocation {
    pub(crate) package_root: PathBuf,
    pub(crate) suite_dir: PathBuf,
}

/// Prefix of the variables that name the directories a build script tracks. Cargo passes them to macros and tests.
pub(crate) const TRACKED_DIRECTORY_PREFIX: &str = "EVALSUITE_TRACKED_";

impl SuiteLocation {
    pub(crate) fn of(suite: &EvalSuite) -> Self {
        let package_root = suite.package_root();
        let suite_dir = package_root.join(suite.root);
        Self { package_root, suite_dir }
    }

    /// Describes the directory around `directory` in which every new file causes a rebuild; `None` if there is none.
    pub(crate) fn rebuild_trigger_around(&self, directory: &Path) -> Option<String> {
        let (directory, suite) = (real(directory), real(&self.suite_dir));
        // Of a suite beside the manifest only its files are tracked: the whole package is below its directory.
        if directory.starts_with(&suite) && !real(&self.package_root).starts_with(&suite) {
            return Some("the suite".to_owned());
        }
        let tracked =
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with(TRACKED_DIRECTORY_PREFIX));
        let mut tracked = tracked.map(|(_, directory)| PathBuf::from(directory));
        let found = tracked.find(|tracked| directory.starts_with(real(tracked)))?;
        Some(format!("{}, which the build script tracks", found.display()))
    }

    /// Absolute path of a file found by the loader.
    pub(crate) fn resolve(&self, path: &PathRef) -> PathBuf {
        self.join(&path.path)
    }

    /// Absolute path of a path relative to the package root.
    pub(crate) fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        if path.is_absolute() {
            let extracted = extracted_path(&self.package_root, path);
            return if extracted.exists() { extracted } else { path.to_owned() };
        }
        self.package_root.join(path)
    }
}

/// Path of an extracted file below `root`.
pub(crate) fn extracted_path(root: &Path, path: &Path) -> PathBuf {
    if path.is_relative() {
        return root.join(path);
    }
    let below = path.components().filter(|part| matches!(part, Component::Normal(_)));
    root.join(OUTSIDE_PACKAGE).join(below.collect::<PathBuf>())
}

/// The path without symbolic links and `..`, as far as it exists.
fn real(path: &Path) -> PathBuf {
    for directory in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (directory.canonicalize(), path.strip_prefix(directory)) {
            return real.join(rest);
        }
    }
    path.to_owned()
}

/// The directory that belongs to one case only: that of its file, unless it is the suite's or other cases are in it, too.
pub(crate) fn own_directory(is_shared: bool, case_dir: &str, places: &SuiteLocation) -> Option<PathBuf> {
    let directory = places.join(case_dir);
    (!is_shared && directory != places.suite_dir && directory.is_dir()).then_some(directory)
}

/// The directory of the file that defines a case.
pub(crate) fn directory_of_file(case: &EvalCase) -> &'static str {
    case.file.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// Directories whose files define several cases.
pub(crate) fn shared_directories(suite: &EvalSuite) -> HashSet<&'static str> {
    let mut cases = HashMap::new();
    let is_other = |case: &&EvalCase| *cases.entry(directory_of_file(case)).or_insert(case.id) != case.id;
    suite.cases.iter().filter(is_other).map(directory_of_file).collect()
}
