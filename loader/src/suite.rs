use std::path::PathBuf;

use evalsuite_schema::{Calibration, Case, Suite, diagnostic::Diagnostics};

use crate::source::{Files, Span};

/// What to load, and how.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Request {
    /// The entry path as it is written: relative to the package root, or, starting with `./`, to [`Request::source_dir`].
    pub entry: String,
    /// Directory of the package's `Cargo.toml`, the outer boundary of every path search.
    pub package_root: PathBuf,
    /// Paths are shown relative to this directory.
    pub workspace_root: PathBuf,
    /// Directory of the source file that names the entry, for entries that start with `./`.
    pub source_dir: Option<PathBuf>,
    /// Target matrix for a suite whose files have none.
    pub targets: Vec<String>,
    /// Whether a task's `workspace/` and `fixture_*` keys are its fixtures.
    pub fixtures: bool,
    /// Whether cases with a docker workspace compile and are skipped.
    pub allow_docker: bool,
    /// Number of threads that read cases.
    pub threads: usize,
}

impl Request {
    /// Loads `entry` of the package at `package_root`; paths are shown relative to the Cargo workspace around it.
    pub fn new(entry: impl Into<String>, package_root: impl Into<PathBuf>) -> Self {
        let package_root = package_root.into();
        Self {
            entry: entry.into(),
            workspace_root: crate::paths::workspace_root(&package_root),
            package_root,
            source_dir: None,
            targets: Vec::new(),
            fixtures: true,
            allow_docker: false,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// The result of a load.
#[derive(Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// The suite; `None` if one of the diagnostics is an error.
    pub suite: Option<LoadedSuite>,
    /// Every use of a grader that is not built in, as far as cases could be read.
    pub user_graders: Vec<GraderUse>,
    /// All problems of all files, by file and position.
    pub diagnostics: Diagnostics,
    /// The files and directories that were looked at.
    pub files: Files,
}

/// A checked suite.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LoadedSuite {
    /// What the suite says beside its cases.
    pub suite: Suite,
    /// Name of the generated module: the last component of the entry path, made an identifier.
    pub module: String,
    /// Where cases come from, in the form that [`evalsuite_discovery::list`] takes: kind and path.
    pub sources: Vec<(String, String)>,
    /// The cases, in order.
    pub cases: Vec<LoadedCase>,
    /// The tests, in order: one per case, or one per target and case.
    pub tests: Vec<Test>,
    /// What judges are measured by.
    pub calibration: Option<Calibration>,
}

/// A checked case.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LoadedCase {
    /// The case.
    pub case: Case,
    /// The file that defines it, relative to the suite root.
    pub source: String,
    /// Where it stands.
    pub span: Span,
    /// Modules its test lies in, below the suite's module and the target's.
    pub folders: Vec<String>,
    /// Name of its test function.
    pub function: String,
}

/// A test that is generated.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Test {
    /// Index into [`LoadedSuite::cases`].
    pub case: usize,
    /// Target of the matrix; `None` without a matrix.
    pub target: Option<String>,
    /// Modules below the suite's module, then the function: all valid identifiers.
    pub path: Vec<String>,
}

/// A place where a grader is named that is not built in.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraderUse {
    /// The name as written.
    pub name: String,
    /// Where it is written.
    pub span: Span,
}
