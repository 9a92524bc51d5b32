//! Directories that cannot be tracked.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::cargo_environment::Package;

/// A directory that can be tracked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tracked {
    /// As the build script wrote it.
    pub(super) written: String,
    /// The whole path.
    pub(super) absolute: String,
}

/// Why a directory cannot be tracked.
#[derive(Debug)]
pub(super) struct Refusal {
    directory: PathBuf,
    reason: Reason,
}

#[derive(Debug)]
enum Reason {
    NotOneLineOfUtf8,
    Missing { package_root: PathBuf },
    WholePackage,
    HoldsTargetDirectory,
    PackageNotUtf8,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const REBUILDS: &str = "so every build would be a full one. Name the directory of the suites, such as `evalsuite_build::track(\"suites\")`";
        write!(f, "cannot track `{}`: ", self.directory.display())?;
        match &self.reason {
            Reason::NotOneLineOfUtf8 => f.write_str("the path has to be UTF-8 without line breaks"),
            Reason::Missing { package_root } => write!(
                f,
                "it does not exist in {}. The path is relative to the package's root, where Cargo.toml is",
                package_root.display()
            ),
            Reason::WholePackage => {
                write!(f, "this is the whole package, in which every build changes files, {REBUILDS}")
            }
            Reason::HoldsTargetDirectory => write!(f, "it contains cargo's target directory, {REBUILDS}"),
            Reason::PackageNotUtf8 => f.write_str("the path of the package is not UTF-8"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Checks that `directory` can be tracked.
pub(super) fn checked(directory: &Path, package: &Package) -> Result<Tracked, Refusal> {
    let refuse = |reason| Err(Refusal { directory: directory.to_path_buf(), reason });
    let Some(written) = directory.to_str().filter(|path| !path.contains(['\n', '\r'])) else {
        return refuse(Reason::NotOneLineOfUtf8);
    };
    // `join` and no more: cargo shows and compares paths as they are written, links are resolved only to compare.
    let absolute = package.root.join(written.trim_end_matches('/'));
    let Ok(resolved) = absolute.canonicalize() else {
        return refuse(Reason::Missing { package_root: package.root.clone() });
    };
    if package.root.canonicalize().is_ok_and(|root| root == resolved) {
        return refuse(Reason::WholePackage);
    }
    if package.out_dir.canonicalize().is_ok_and(|out_dir| out_dir.starts_with(&resolved)) {
        return refuse(Reason::HoldsTargetDirectory);
    }
    match absolute.to_str() {
        Some(absolute) => Ok(Tracked { written: written.to_owned(), absolute: absolute.to_owned() }),
        None => refuse(Reason::PackageNotUtf8),
    }
}
