//! Directories that cannot be tracked.

use std::path::Path;
use std::{fmt, io};

use super::links;
use crate::package::Package;

/// A directory that can be tracked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tracked {
    /// As the build script wrote it.
    pub(super) written: String,
    /// The whole path.
    pub(super) absolute: String,
}

/// What a directory contains that has nothing to do with suites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contents {
    WholePackage,
    TargetDirectory,
    /// Whatever is outside of the package.
    Outside,
    /// What many links lead to.
    TooMuch,
}

impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WholePackage => {
                "this is the whole package, in which every build changes files, so every build would be a full one"
            }
            Self::TargetDirectory => "it contains cargo's target directory, so every build would be a full one",
            Self::Outside => "this is outside of the package, and cargo would look for changes everywhere below it",
            Self::TooMuch => {
                "with it, cargo would follow more than 1,000 links to directories, or see more than 250,000 files behind them"
            }
        })
    }
}

/// Checks that `directory` can be tracked, or says why cargo would see changes that builds make themselves, or search more than the
/// package; `None` if it does not exist.
pub(super) fn checked(directory: &Path, package: &Package) -> Result<Option<Tracked>, String> {
    let Some(written) = directory.to_str().filter(|path| !path.contains(['\n', '\r'])) else {
        return Err("the path has to be UTF-8 without line breaks".to_owned());
    };
    // `join` and no more: cargo shows and compares paths as they are written, links are resolved only to compare.
    let absolute = package.root.join(written.trim_end_matches('/'));
    let resolved = match absolute.canonicalize() {
        Ok(resolved) => resolved,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error.to_string()),
    };
    let root = package.root.canonicalize().unwrap_or_else(|_| package.root.clone());
    let out_dir = package.out_dir.canonicalize().unwrap_or_else(|_| package.out_dir.clone());
    let contents = |path: &Path| match path {
        path if path == root => Some(Contents::WholePackage),
        path if out_dir.starts_with(path) => Some(Contents::TargetDirectory),
        _ => None,
    };
    if let Some(contents) = contents(&resolved) {
        let help = "Name the directory of the suites, such as `evalsuite_build::track(\"suites\")`";
        return Err(format!("{contents}. {help}"));
    }
    // A directory outside of the package is tracked if the build script names it, but what it links to has to be in it.
    let boundary = if resolved.starts_with(&root) { &root } else { &resolved };
    let of_target = |target: &Path| contents(target).or((!target.starts_with(boundary)).then_some(Contents::Outside));
    if let Some((link, contents)) = links::first(&absolute, of_target) {
        let (path, target) = (link.path.display(), link.target.display());
        return Err(format!(
            "{path} is a link to {target}: {contents}. Copy the files that the suite needs, or move the link out of `{written}`"
        ));
    }
    match absolute.to_str() {
        Some(absolute) => Ok(Some(Tracked { written: written.to_owned(), absolute: absolute.to_owned() })),
        None => Err("the path of the package is not UTF-8".to_owned()),
    }
}
