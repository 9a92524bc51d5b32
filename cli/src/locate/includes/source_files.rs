//! The sources of a package that may include suites.

use std::path::{Path, PathBuf};

use evalsuite_loader::source::plain_text;
use walkdir::{DirEntry, WalkDir};

/// Directories of a package with sources.
const DIRECTORIES: &[&str] = &["src", "tests", "examples", "benches"];

/// A source file that names the macro or the generator.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) path: PathBuf,
    /// The path relative to the package.
    pub(crate) shown: String,
    pub(crate) text: String,
}

/// The source files of the package at `root` with calls in them, and its build script.
pub(crate) fn of_package(root: &Path) -> Vec<SourceFile> {
    let with_calls = |path: PathBuf| {
        // A link may lead to a device.
        let text = plain_text(&path)?;
        let has_calls = text.contains("include_eval_suite") || text.contains("evalsuite_build");
        let shown = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        has_calls.then_some(SourceFile { path, shown, text })
    };
    rust_files(root).into_iter().filter_map(with_calls).collect()
}

/// The Rust files of the package at `root`. Packages in its directories have sources of their own.
pub(crate) fn rust_files(root: &Path) -> Vec<PathBuf> {
    let is_own = |entry: &DirEntry| !(entry.file_type().is_dir() && entry.path().join("Cargo.toml").is_file());
    let walked = DIRECTORIES.iter().flat_map(|directory| {
        let walk = WalkDir::new(root.join(directory)).sort_by_file_name().into_iter().filter_entry(is_own);
        walk.filter_map(Result::ok).map(DirEntry::into_path)
    });
    let is_rust = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "rs");
    std::iter::once(root.join("build.rs")).chain(walked).filter(is_rust).collect()
}
