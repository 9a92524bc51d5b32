//! Where records and suites lie.

use std::path::{Path, PathBuf};

/// A folder of test data, or why there is none.
#[derive(Debug, Clone)]
pub enum Folder {
    /// The folder is there.
    There {
        /// Where it lies.
        path: PathBuf,
        /// Whether it was chosen by an environment variable: then it may hold other data than what our lists describe.
        is_other: bool,
    },
    /// The folder is absent, and the tests are skipped.
    Absent(String),
    /// The folder is absent where it has to be present.
    Missing(String),
}

/// The folder named by the environment variable `variable`, else `default` beside the workspace.
pub fn find(variable: &str, default: &str) -> Folder {
    let named = std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let beside = workspace_root().join(default);
    let is_other = named.as_ref().is_some_and(|named| !same(named, &beside));
    let path = named.unwrap_or(beside);
    if path.is_dir() {
        return Folder::There { path, is_other };
    }
    let reason = format!("{} is not there (set {variable} to the folder)", path.display());
    let needed = std::env::var_os(variable).is_some_and(|value| !value.is_empty()) || std::env::var_os("CI").is_some();
    if needed { Folder::Missing(reason) } else { Folder::Absent(reason) }
}

/// Root of the workspace this crate belongs to.
pub fn workspace_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

fn same(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
