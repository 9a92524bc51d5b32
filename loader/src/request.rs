//! What to load: an entry path, and where it is searched.

use std::path::{Path, PathBuf};

/// What to load, and how.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Request {
    /// The entry path as written: relative to the package root, or, starting with `./`, to [`Request::source_dir`].
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
            workspace_root: workspace_root(&package_root),
            package_root,
            source_dir: None,
            targets: Vec::new(),
            fixtures: true,
            allow_docker: false,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Directory of the Cargo workspace around a package: paths are shown relative to it.
pub fn workspace_root(package_root: &Path) -> PathBuf {
    let is_workspace = |directory: &&Path| {
        std::fs::read_to_string(directory.join("Cargo.toml"))
            .is_ok_and(|manifest| manifest.lines().any(|line| line.trim_start().starts_with("[workspace")))
    };
    package_root.ancestors().find(is_workspace).unwrap_or(package_root).to_path_buf()
}
