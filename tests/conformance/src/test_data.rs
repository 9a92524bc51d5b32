//! Finds the directories with records and suites.

use std::path::{Path, PathBuf};

/// A directory of test data, or why there is none.
#[derive(Debug, Clone)]
pub enum TestData {
    /// The directory exists.
    Present {
        /// Its path.
        path: PathBuf,
        /// Whether an environment variable names another directory than the default, whose data our lists do not describe.
        is_other: bool,
    },
    /// The directory is missing, and the tests are skipped.
    Absent(String),
    /// The directory is missing but required.
    Missing(String),
}

/// The directory named by the environment variable `variable`, or else `default`, relative to the workspace.
pub fn find(variable: &str, default: &str) -> TestData {
    let named = std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let beside = workspace_root().join(default);
    let is_other = named.as_ref().is_some_and(|named| !same(named, &beside));
    let path = named.unwrap_or(beside);
    if path.is_dir() {
        return TestData::Present { path, is_other };
    }
    let reason = format!("{} does not exist (set {variable} to the directory)", path.display());
    let needed = std::env::var_os(variable).is_some_and(|value| !value.is_empty()) || std::env::var_os("CI").is_some();
    if needed { TestData::Missing(reason) } else { TestData::Absent(reason) }
}

/// Root of the workspace this crate belongs to.
pub fn workspace_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

fn same(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
