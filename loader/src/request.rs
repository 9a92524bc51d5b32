//! What to load: an entry path, and where it is searched.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use evalsuite_schema::discovery::{processors, workspace_root};

use crate::source::Texts;

/// What to load, and how.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Request {
    /// The entry path as written: relative to the package root, or, starting with `./`, to [`Request::source_dir`].
    pub entry: String,
    /// Directory of the package's `Cargo.toml`, the outer boundary of every path search; see [`Request::of_suite`] for suites
    /// without a package.
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
    /// Texts that are read in place of files.
    pub texts: Texts,
    /// The only cases that are read.
    pub(crate) part: Option<Part>,
}

/// Some cases of a suite.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// Files that define one case each, relative to the suite's directory.
    pub sources: BTreeSet<String>,
    /// Ids of cases in files that define several.
    pub ids: BTreeSet<String>,
}

/// A case that is not in the part of a suite that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherCase {
    /// The file that defines it, relative to the suite's directory; empty for a case in a file of several.
    pub source: String,
    /// Path of its test below the modules of the suite and of a target, with `::` between modules.
    pub path: String,
    /// Whether its file was not read and may have a `matrix`: then there may be several cases, whose paths start with `path`.
    pub may_be_several: bool,
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
            threads: processors(),
            texts: Texts::default(),
            part: None,
        }
    }

    /// Loads the suite at `path`, which is absolute. Its package root is the package around it, else the repository (`.git`),
    /// else `here`, the directory in which a command is run; a suite that is not below `here` is searched alone.
    ///
    /// # Errors
    ///
    /// If the path is not UTF-8.
    pub fn of_suite(path: &Path, here: &Path) -> io::Result<Self> {
        let around = |name: &str| path.ancestors().find(|directory| directory.join(name).exists());
        let alone = || if path.is_dir() { path } else { path.parent().unwrap_or(path) };
        let root = around("Cargo.toml").or_else(|| around(".git"));
        let root = root.unwrap_or_else(|| if path.starts_with(here) { here } else { alone() });
        let entry = match path.strip_prefix(root).unwrap_or(path).to_str() {
            Some("") => ".".to_owned(),
            Some(entry) => entry.replace('\\', "/"),
            None => {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{} is not UTF-8", path.display())));
            }
        };
        Ok(Self::new(entry, root))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_package_else_the_repository_else_the_current_directory_is_the_boundary() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let suite = root.join("repository/member/evals/x");
        fs::create_dir_all(&suite).unwrap();
        let request = |path: &Path, here: &str| {
            let request = Request::of_suite(path, &root.join(here)).unwrap();
            let below = request.package_root.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
            (below, request.entry)
        };
        let expected = |root: &str, entry: &str| (root.to_owned(), entry.to_owned());
        assert_eq!(request(&suite, "repository/member"), expected("repository/member", "evals/x"));
        assert_eq!(request(&suite, "elsewhere"), expected("repository/member/evals/x", "."));
        // In a worktree it is a file.
        fs::write(root.join("repository/.git"), "gitdir: elsewhere\n").unwrap();
        assert_eq!(request(&suite, "repository/member"), expected("repository", "member/evals/x"));
        assert_eq!(request(&root.join("repository"), "elsewhere"), expected("repository", "."));
        fs::write(root.join("repository/member/Cargo.toml"), "[package]\n").unwrap();
        assert_eq!(request(&suite, "repository"), expected("repository/member", "evals/x"));
    }
}
