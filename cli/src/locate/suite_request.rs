//! Suites named on the command line, and the packages around them.

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};

use evalsuite_loader::{Request, workspace_root};

use super::suite_search;

/// A request for the suite at `path`.
pub(crate) fn request(path: &Path) -> io::Result<Request> {
    Request::of_suite(&absolute(path)?, &std::env::current_dir()?)
}

/// The suites at or below `path`; `path` itself if there are none, for loading it reports what is missing.
pub(crate) fn suites_at(path: &Path) -> io::Result<Vec<PathBuf>> {
    let path = absolute(path)?;
    let found = all_below(&path);
    let is_one = found.is_empty() || found.contains(&path);
    Ok(if is_one { vec![path] } else { found })
}

/// The suites of the package or workspace around the current directory.
pub(crate) fn suites_here() -> io::Result<Vec<PathBuf>> {
    Ok(suites_around(&std::env::current_dir()?))
}

/// The suites of the package or workspace around a directory.
pub(crate) fn suites_around(directory: &Path) -> Vec<PathBuf> {
    let root = directory.ancestors().find(|directory| directory.join("Cargo.toml").is_file());
    all_below(root.unwrap_or(directory))
}

/// The packages of the workspaces around `paths`.
pub(crate) fn packages_around(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut packages = BTreeSet::new();
    for path in paths {
        let Some(package) = path.ancestors().find(|directory| directory.join("Cargo.toml").is_file()) else { continue };
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
