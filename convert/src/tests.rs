//! Sources for the tests of conversions.

use std::fs;

use tempfile::TempDir;

/// A directory with these files.
pub(crate) fn write(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    directory
}
