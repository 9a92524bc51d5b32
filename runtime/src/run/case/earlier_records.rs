//! The records of a case that runs again in the same run: they are kept until the new ones are complete.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::record::run_directory::layout::{CASE_RECORD, EARLIER_CASES};
use crate::workspace::remove_directory;

/// The earlier records of a case. If its process dies, they stay.
#[must_use = "the earlier records stay until they are removed"]
pub(crate) struct EarlierRecords(PathBuf);

/// Makes room for the records of a case: moves those of a case that ended to a directory next to all cases, and removes those of
/// one whose process died.
pub(crate) fn set_aside(directory: &Path) -> io::Result<EarlierRecords> {
    let EarlierRecords(earlier) = EarlierRecords::of(directory);
    let suite = directory.parent().and_then(Path::parent).unwrap_or(directory);
    if directory.join(CASE_RECORD).is_file() {
        remove_directory(&earlier)?;
        loop {
            match fs::create_dir(suite.join(EARLIER_CASES)) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            match fs::rename(directory, &earlier) {
                // Another test has removed the directory, because there were no records in it.
                Err(error) if error.kind() == io::ErrorKind::NotFound && directory.is_dir() => {}
                moved => break moved?,
            }
        }
    } else {
        remove_directory(directory)?;
    }
    Ok(EarlierRecords(earlier))
}

impl EarlierRecords {
    /// Those of a case, which need not exist. The records that the case has now stay where they are.
    pub(crate) fn of(directory: &Path) -> Self {
        let suite = directory.parent().and_then(Path::parent).unwrap_or(directory);
        Self(suite.join(EARLIER_CASES).join(directory.file_name().unwrap_or_default()))
    }

    /// Removes them: the new ones are whole.
    pub(crate) fn remove(self) -> io::Result<()> {
        remove_directory(&self.0)?;
        // Another test may have records in it.
        let _ = self.0.parent().map(fs::remove_dir);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_run_again_at_the_same_time_do_not_disturb_each_other() {
        let root = tempfile::tempdir().unwrap();
        let run_again = |case: PathBuf| {
            for _ in 0..100 {
                fs::create_dir_all(&case).unwrap();
                fs::write(case.join(CASE_RECORD), "").unwrap();
                set_aside(&case).and_then(EarlierRecords::remove).unwrap();
            }
        };
        std::thread::scope(|scope| {
            for number in 0..8 {
                let case = root.path().join(format!("cases/case-{number}"));
                scope.spawn(|| run_again(case));
            }
        });
    }

    #[test]
    fn records_stay_until_the_new_ones_are_whole() {
        let root = tempfile::tempdir().unwrap();
        let case = root.path().join("cases/a-12345678");
        let write = |file: &str, text: &str| {
            let file = case.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        let kept = || fs::read_to_string(root.path().join("earlier/a-12345678/case.json")).ok();
        set_aside(&case).unwrap().remove().unwrap();
        write("case.json", "first");
        write("trial-000/result.json", "first");
        // The process dies, twice.
        for _ in 0..2 {
            let _ = set_aside(&case).unwrap();
            assert_eq!((case.exists(), kept().as_deref()), (false, Some("first")));
            write("trial-000/started.json", "");
        }
        let earlier = set_aside(&case).unwrap();
        write("case.json", "second");
        earlier.remove().unwrap();
        assert!(!root.path().join("earlier").exists());
        assert_eq!((kept(), fs::read_to_string(case.join("case.json")).unwrap()), (None, "second".to_owned()));
    }
}
