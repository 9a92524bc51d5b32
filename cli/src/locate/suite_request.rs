//! Suites named on the command line, and the packages around them.

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};

use evalsuite_loader::{Request, workspace_root};
use evalsuite_schema::diagnostics::suggest::did_you_mean;

use super::suite_search;
use crate::platform::cli_error::{CliError, Result};

/// A request for the suite at `path`.
pub(crate) fn request(path: &Path) -> io::Result<Request> {
    Request::of_suite(&absolute(path)?, &std::env::current_dir()?)
}

/// The absolute path of what the user has named.
pub(crate) fn existing(path: &Path) -> Result<PathBuf> {
    let whole = absolute(path)?;
    if whole.symlink_metadata().is_ok() {
        return Ok(whole);
    }
    let message = format!("`{}` does not exist", path.display());
    let here = std::env::current_dir()?;
    let help = meant(&whole, &here).unwrap_or_else(|| format!("the path is relative to {}", here.display()));
    Err(CliError::with_help(message, help))
}

/// The path that was probably meant: that of a suite with this name, or one with a similar spelling.
fn meant(path: &Path, here: &Path) -> Option<String> {
    let shown = |path: &Path| path.strip_prefix(here).unwrap_or(path).to_str().map(str::to_owned);
    let suites: Vec<String> = suites_here().ok()?.iter().filter_map(|suite| shown(suite)).collect();
    if let Some(suite) = suites.iter().find(|suite| Path::new(suite).file_name() == path.file_name()) {
        return Some(format!("did you mean `{suite}`?"));
    }
    let beside = path.parent()?.read_dir().into_iter().flatten().flatten();
    let beside: Vec<String> = beside.filter_map(|entry| shown(&entry.path())).collect();
    did_you_mean(&shown(path)?, suites.iter().chain(&beside).map(String::as_str))
}

/// The suites at or below a path that the user has named; the path itself if there are none: loading it reports what is missing.
pub(crate) fn suites_at(path: &Path) -> Result<Vec<PathBuf>> {
    let path = existing(path)?;
    // The directory of a suite's cases looks like a suite without its file.
    if let (Some(around), Some(name)) = (path.parent(), path.file_name())
        && suite_search::is_of_cases(Path::new(name))
        && suite_search::has_suite_file(around)
    {
        return Ok(suite_search::suites_in(around));
    }
    let found = all_below(&path);
    let is_one = found.is_empty() || found.contains(&path);
    Ok(if is_one { vec![path] } else { found })
}

/// The suites of the package or workspace around the current directory. Outside of packages, not everything below the directory is
/// searched, which may be a home directory: only itself and the usual directories of suites.
pub(crate) fn suites_here() -> io::Result<Vec<PathBuf>> {
    let here = std::env::current_dir()?;
    if package_around(&here).is_some() {
        return Ok(suites_around(&here));
    }
    let mut found = suite_search::suites_in(&here);
    found.extend(USUAL_DIRECTORIES.iter().flat_map(|name| all_below(&here.join(name))));
    Ok(found)
}

/// Directories in which suites usually are.
const USUAL_DIRECTORIES: [&str; 2] = ["suites", "evals"];

/// The error of a command that found no suite in the current directory.
pub(crate) fn no_suite_here() -> Result<CliError> {
    let here = std::env::current_dir()?;
    if package_around(&here).is_some() {
        return Ok(CliError::with_help("no suite found", "write one: `cargo evalsuite new suite`"));
    }
    let usual = USUAL_DIRECTORIES.join("` and `");
    let message = format!("no suite found: outside of a package, only `{usual}` are searched in {}", here.display());
    Ok(CliError::with_help(message, "name a suite or a directory to search, such as `cargo evalsuite check .`"))
}

/// The suites that the case at a path is a case of; none if the path is not that of a case: its directory, its file, or a directory of
/// such files.
pub(crate) fn suites_of_case(path: &Path) -> Vec<PathBuf> {
    if suite_search::is_suite_file(path) || (path.is_dir() && !suite_search::below(path).suites.is_empty()) {
        return Vec::new();
    }
    let Some(directory) = path.ancestors().skip(1).find(|directory| !suite_search::suites_in(directory).is_empty())
    else {
        return Vec::new();
    };
    // Directories of cases look like a suite without its file.
    let parent = directory.parent().filter(|parent| suite_search::has_suite_file(parent));
    let directory = parent.filter(|_| !suite_search::has_suite_file(directory)).unwrap_or(directory);
    let below = path.strip_prefix(directory).unwrap_or(path);
    let is_case = match path.is_dir() {
        true => suite_search::has_case_file(path) || suite_search::is_of_cases(below),
        false => {
            below.components().count() > 1 && path.extension().is_some_and(|it| DATA.iter().any(|data| it == *data))
        }
    };
    if is_case { suite_search::suites_in(directory) } else { Vec::new() }
}

/// Extensions of files with cases.
const DATA: [&str; 4] = ["yaml", "yml", "json", "jsonl"];

/// The directory of a suite that is named by its directory or its file.
pub(crate) fn suite_directory(path: &Path) -> &Path {
    if path.is_dir() { path } else { path.parent().unwrap_or(path) }
}

/// The suites of the package or workspace around a directory.
pub(crate) fn suites_around(directory: &Path) -> Vec<PathBuf> {
    all_below(package_around(directory).unwrap_or(directory))
}

/// The directory of the package or workspace around a path.
pub(crate) fn package_around(path: &Path) -> Option<&Path> {
    path.ancestors().find(|directory| directory.join("Cargo.toml").is_file())
}

/// The packages of the workspaces around `paths`.
pub(crate) fn packages_around(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut packages = BTreeSet::new();
    for path in paths {
        let Some(package) = package_around(path) else { continue };
        if packages.insert(package.to_path_buf()) {
            add_packages_below(&workspace_root(package), &mut packages);
        }
    }
    packages.into_iter().collect()
}

fn add_packages_below(directory: &Path, packages: &mut BTreeSet<PathBuf>) {
    for package in suite_search::below(directory).packages {
        add_packages_below(&package, packages);
        packages.insert(package);
    }
}

/// Searches packages below `directory` too: the root of a workspace often is not a package.
fn all_below(directory: &Path) -> Vec<PathBuf> {
    let found = suite_search::below(directory);
    let mut all = found.suites;
    all.extend(found.packages.iter().flat_map(|package| all_below(package)));
    all
}

/// The absolute path without `.` and `..`. Symbolic links stay, so that files are shown as the user named them.
pub(crate) fn absolute(path: &Path) -> io::Result<PathBuf> {
    let mut absolute = PathBuf::new();
    for component in std::path::absolute(path)?.components() {
        match component {
            Component::ParentDir => {
                absolute.pop();
            }
            other => absolute.push(other),
        }
    }
    Ok(absolute)
}
