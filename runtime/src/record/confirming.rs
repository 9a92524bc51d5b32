//! What the tests of a run have found by repeating cases that fail and passed in their baseline: one file for each suite.

use std::io;
use std::path::Path;

use crate::platform::file_lock::FileLock;
use crate::platform::files::{read_json, write_json};
use crate::platform::redaction::Redactor;

pub(crate) use evalsuite_records::repeated_cases::{DEFAULT_CONFIRMING, RepeatedCases};

/// What the tests of a run have written; nothing if none did.
pub(crate) fn repeated_cases(locks: &Path, suite: &str) -> io::Result<RepeatedCases> {
    Ok(read_json(&locks.join(format!("repeated-{suite}.json")))?.unwrap_or_default())
}

/// Adds a case to what the tests of a run have written.
pub(crate) fn add_repeated_case(locks: &Path, suite: &str, trials: u32, is_confirmed: bool) -> io::Result<()> {
    let _lock = FileLock::acquire(&locks.join(format!("repeated-{suite}.lock")))?;
    let mut repeated = repeated_cases(locks, suite)?;
    repeated.add(trials, is_confirmed);
    write_json(&locks.join(format!("repeated-{suite}.json")), &repeated, &Redactor::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_in_several_processes_share_a_file() {
        let locks = tempfile::tempdir().unwrap();
        assert_eq!(repeated_cases(locks.path(), "shop").unwrap(), RepeatedCases::default());
        add_repeated_case(locks.path(), "shop", 4, false).unwrap();
        add_repeated_case(locks.path(), "shop", 10, true).unwrap();
        let found = repeated_cases(locks.path(), "shop").unwrap();
        let mut expected = RepeatedCases::default();
        expected.add(4, false);
        expected.add(10, true);
        assert_eq!(found, expected);
        assert_eq!(repeated_cases(locks.path(), "other").unwrap(), RepeatedCases::default());
    }
}
