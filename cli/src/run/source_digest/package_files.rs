//! The files of a package that an agent may read when it runs.

use std::path::Path;

use evalsuite_schema::Value;
use walkdir::{DirEntry, WalkDir};

use super::Scope;
use super::parts::{Parts, canonical};
use crate::platform::cli_error::{CliError, Result};

/// The files in `.evalsuite` of a package that say how agents and judges are called.
const TARGETS: [&str; 2] = [".evalsuite/targets.yaml", ".evalsuite/targets.yml"];

/// The key with the files that the agent reads when it runs.
const KEY: &str = "agent-files";

/// The files that a package names, else all of them, and its manifest and targets.
pub(super) fn add_package(parts: &mut Parts, scope: &Scope<'_>, directory: &Path, package: &Value) -> Result<()> {
    for file in TARGETS.iter().chain(&["Cargo.toml"]).map(|file| directory.join(file)).filter(|file| file.is_file()) {
        parts.add_file(&file)?;
    }
    let named = &package["metadata"]["evalsuite"][KEY];
    if named.is_null() {
        return add_directory(parts, scope, directory);
    }
    let place = || format!("`[package.metadata.evalsuite]` in {}", directory.join("Cargo.toml").display());
    let help =
        format!("`{KEY} = [\"prompts\"]`: files and directories of the package that the agent reads when it runs");
    let Some(named) = named.as_array() else {
        return Err(CliError::with_help(format!("`{KEY}` is not a list, {}", place()), help));
    };
    for path in named {
        let Some(name) = path.as_str() else {
            return Err(CliError::with_help(format!("`{path}` in `{KEY}` is not a path, {}", place()), help));
        };
        match directory.join(name) {
            path if path.is_dir() => add_tree(parts, scope, &path, |_| false)?,
            path if path.is_file() => parts.add_file(&path)?,
            _ => return Err(CliError::with_help(format!("`{name}` in `{KEY}` does not exist, {}", place()), help)),
        }
    }
    Ok(())
}

/// All files of a directory, except those of other packages and in hidden directories, which belong to version control and editors.
pub(super) fn add_directory(parts: &mut Parts, scope: &Scope<'_>, directory: &Path) -> Result<()> {
    add_tree(parts, scope, directory, |entry| {
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        entry.file_type().is_dir() && (is_hidden || entry.path().join("Cargo.toml").is_file())
    })
}

fn add_tree(
    parts: &mut Parts,
    scope: &Scope<'_>,
    directory: &Path,
    is_left_out: impl Fn(&DirEntry) -> bool,
) -> Result<()> {
    let is_other = |entry: &DirEntry| {
        let path = canonical(entry.path());
        path == scope.target || path == scope.output || scope.of_cases.contains(&path) || is_left_out(entry)
    };
    let walk = WalkDir::new(directory).follow_links(true).into_iter();
    for entry in walk.filter_entry(|entry| entry.depth() == 0 || !is_other(entry)) {
        match entry {
            Ok(entry) if entry.file_type().is_file() => parts.add_file(entry.path())?,
            Ok(_) => {}
            // A link that leads nowhere, or to a directory that contains it.
            Err(error) if error.path().is_some_and(Path::is_symlink) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
