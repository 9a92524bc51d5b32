//! Directories that cannot be tracked.

use std::path::Path;

use crate::cargo_environment::Package;

/// A directory that can be tracked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tracked {
    /// As the build script wrote it.
    pub(crate) written: String,
    /// The whole path.
    pub(crate) absolute: String,
}

/// Checks that `directory` can be tracked.
///
/// # Errors
///
/// A text that says why not, and what to write instead.
pub(crate) fn checked(directory: &Path, package: &Package) -> Result<Tracked, String> {
    let shown = directory.display();
    let Some(written) = directory.to_str().filter(|path| !path.contains(['\n', '\r'])) else {
        return Err(format!("cannot track `{shown}`: cargo takes paths that are UTF-8 and one line"));
    };
    // `join` and no more: cargo shows and compares paths as they are written, links are resolved only to compare.
    let absolute = package.root.join(written.trim_end_matches('/'));
    let Ok(resolved) = absolute.canonicalize() else {
        return Err(format!(
            "cannot track `{written}`: it does not exist in {}. A path is relative to the package's root, where Cargo.toml lies",
            package.root.display()
        ));
    };
    let same = |other: &Path| other.canonicalize().is_ok_and(|other| other == resolved);
    if same(&package.root) {
        return Err(format!(
            "cannot track `{written}`: this is the whole package, in which every build changes something, so that every build \
             would be a full one. Name the folder of the suites, such as `evalsuite_build::track(\"suites\")`"
        ));
    }
    if package.out_dir.canonicalize().is_ok_and(|out_dir| out_dir.starts_with(&resolved)) {
        return Err(format!(
            "cannot track `{written}`: cargo's target directory lies below it, so that every build would be a full one. Name \
             the folder of the suites, such as `evalsuite_build::track(\"suites\")`"
        ));
    }
    match absolute.to_str() {
        Some(absolute) => Ok(Tracked { written: written.to_owned(), absolute: absolute.to_owned() }),
        None => Err(format!("cannot track `{written}`: the path of the package is not UTF-8")),
    }
}
