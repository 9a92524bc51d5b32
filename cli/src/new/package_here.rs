//! The package around the current directory, and its suites.

use std::path::{Path, PathBuf};

use evalsuite_discovery::{is_skill, suite_files};

use super::manifest::Manifest;
use super::questions::Question;
use crate::locate::shown_path::relative;
use crate::locate::{suite_request, suite_search};
use crate::platform::cli_error::{CliError, Result};

/// A package that gets new files.
pub(super) struct PackageHere {
    pub(super) root: PathBuf,
    pub(super) manifest: Manifest,
}

impl PackageHere {
    /// The package around the current directory.
    pub(super) fn find() -> Result<Self> {
        let root = manifest_directory()?;
        let manifest = Manifest::read(root.join("Cargo.toml"))?;
        if manifest.document.get("package").is_none() {
            let message = format!("{} has no package", relative(&root.join("Cargo.toml"))?);
            return Err(CliError::with_help(message, "change to the directory of one of its members"));
        }
        Ok(Self { root, manifest })
    }

    /// The suite at a path, or the only one of the package.
    pub(super) fn suite(&self, given: Option<&Path>) -> Result<Suite> {
        let found = suite_search::below(&self.root).suites;
        let path = match (given, found.as_slice()) {
            (Some(path), _) => suite_request::absolute(path)?,
            (None, [only]) => only.clone(),
            (None, []) => {
                return Err(CliError::with_help("the package has no suite", "write one: `cargo evalsuite new suite`"));
            }
            (None, several) => {
                let shown: Vec<String> = several.iter().map(|path| self.shown(path)).collect();
                let text = format!("Directory of the suite ({})", shown.join(", "));
                let question = Question { text: &text, argument: "--suite", default: None };
                suite_request::absolute(Path::new(&question.answer(None)?))?
            }
        };
        if !path.is_dir() || !suite_search::below(&path).suites.contains(&path) {
            return Err(CliError::new(format!("{} is not the directory of a suite", self.shown(&path))));
        }
        let has_tasks = path.join("suite.json").is_file() && !path.join("cases").is_dir();
        let has_no_file = suite_files(&path)?.is_empty();
        let is_skill = has_no_file && is_skill(&path);
        let cases = if has_no_file { path.clone() } else { path.join("cases") };
        Ok(Suite { entry: self.shown(&path), has_tasks, is_skill, cases, path })
    }

    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().replace('\\', "/")
    }
}

/// The directory of the package or workspace around the current directory.
pub(super) fn manifest_directory() -> Result<PathBuf> {
    let missing = || CliError::with_help("there is no package here", "create one: `cargo new --lib my-agent`");
    suite_request::package_around(&std::env::current_dir()?).map(Path::to_owned).ok_or_else(missing)
}

/// A suite of the package.
pub(super) struct Suite {
    pub(super) path: PathBuf,
    /// The path as the macro names it.
    pub(super) entry: String,
    /// Whether it has the tasks layout.
    pub(super) has_tasks: bool,
    /// Whether it is an Agent Skill.
    pub(super) is_skill: bool,
    /// The directory of its case directories, in the cases layout.
    pub(super) cases: PathBuf,
}

/// Refuses a name that cannot be a file and part of a test's name.
pub(super) fn check_name(name: &str) -> Result<()> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.chars().all(is_allowed) {
        return Ok(());
    }
    let message = format!("`{name}` is not a valid name: use letters, digits, `-` and `_`, and start with a letter");
    Err(CliError::new(message))
}
