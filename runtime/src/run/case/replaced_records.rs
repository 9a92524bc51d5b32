//! Records of cases that have newer ones, for `cargo evalsuite finish`.

use std::io;
use std::path::Path;

use evalsuite_records::file_replacement::sorted_entries;

use crate::record::run_directory::layout::{CASE_RECORD, CASES, EARLIER_CASES};
use crate::run::case::case_record::EarlierRecords;

/// Removes the earlier records of cases whose new ones are whole: their process was killed before it did so. `suite` is the
/// directory of a suite in which no test is running.
pub(crate) fn remove_replaced(suite: &Path) -> io::Result<()> {
    for earlier in sorted_entries(&suite.join(EARLIER_CASES))? {
        let case = suite.join(CASES).join(earlier.file_name().unwrap_or_default());
        if case.join(CASE_RECORD).is_file() {
            EarlierRecords::of(&case).remove()?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::run::case::case_record::set_aside;

    #[test]
    fn earlier_records_are_removed_once_there_are_new_ones() {
        let root = tempfile::tempdir().unwrap();
        let case = root.path().join("cases/a-12345678");
        let write = || {
            fs::create_dir_all(&case).unwrap();
            fs::write(case.join("case.json"), "").unwrap();
        };
        write();
        // The process dies before the earlier records are removed.
        let _ = set_aside(&case).unwrap();
        remove_replaced(root.path()).unwrap();
        assert!(root.path().join("earlier/a-12345678/case.json").is_file(), "there are no new records yet");
        write();
        remove_replaced(root.path()).unwrap();
        assert!(!root.path().join("earlier").exists());
        assert!(case.join("case.json").is_file());
    }
}
