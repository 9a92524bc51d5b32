use std::{
    fs::{self, File},
    io::{self, Write},
    path::PathBuf,
};

use crate::{
    platform::{
        digest::{file_key, safe, sha256},
        file_lock::FileLock,
    },
    record::run_directory::RunDirectory,
};

/// Where the case of one test is recorded, and what tells others about it.
#[derive(Debug, Clone)]
pub(crate) struct CasePlace {
    cases: PathBuf,
    locks: PathBuf,
    /// The case's key, followed by what tells its tests apart.
    name: String,
    stress: String,
}

impl RunDirectory {
    /// Place of a case for the test that runs it, `owner`, and for no other: a suite can be included several times, with
    /// other agents or in other test programs, and their tests run at the same time. The first test to come has the
    /// directory of the case's key, any other one with a digest of itself behind it.
    ///
    /// # Errors
    ///
    /// If it cannot be noted whose place it is.
    pub(crate) fn claim_case(
        &self,
        suite: &str,
        case_key: &str,
        owner: &str,
        stress: Option<&str>,
    ) -> io::Result<CasePlace> {
        let owner = &sha256(owner)[..8];
        let locks = self.locks();
        // The lock file of the case is that of the test whose name stands in it.
        let claim = locks.join(format!("{case_key}.lock"));
        let created = match File::create_new(&claim) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(&locks)?;
                File::create_new(&claim)
            }
            result => result,
        };
        let is_first = match created {
            Ok(mut file) => file.write_all(owner.as_bytes()).map(|()| true)?,
            // Another test may still be writing its name; whatever is there then is not this one's.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => fs::read(&claim)? == owner.as_bytes(),
            Err(error) => return Err(error),
        };
        let name = if is_first { case_key.to_owned() } else { format!("{case_key}.test-{owner}") };
        let stress = stress.map(|index| format!(".stress-{}", safe(index)));
        let cases = self.path.join("suites").join(file_key(suite)).join("cases");
        Ok(CasePlace { cases, locks, name, stress: stress.unwrap_or_default() })
    }
}

impl CasePlace {
    /// Directory of an attempt of the test runner, from 1.
    pub(crate) fn attempt(&self, attempt: u32) -> PathBuf {
        let attempt = if attempt > 1 { format!(".attempt-{attempt}") } else { String::new() };
        self.cases.join(format!("{}{attempt}{}", self.name, self.stress))
    }

    /// Directory of the last attempt that ended.
    pub(crate) fn ended(&self) -> Option<PathBuf> {
        let ended = |attempt| Some(self.attempt(attempt)).filter(|directory| directory.join("case.json").is_file());
        let mut last = ended(1);
        for attempt in 2.. {
            match ended(attempt) {
                Some(directory) => last = Some(directory),
                // The first attempt may have died.
                None if attempt > 2 || last.is_some() => break,
                None => {}
            }
        }
        last
    }

    /// Name of the file whose lock is held while the case runs, in the directory of locks.
    pub(crate) fn lock_file(&self) -> String {
        format!("{}.lock", self.name)
    }

    /// Waits until nobody runs the case.
    ///
    /// # Errors
    ///
    /// If there are no locks.
    pub(crate) fn lock(&self) -> io::Result<FileLock> {
        FileLock::acquire(&self.locks.join(self.lock_file()))
    }

    /// The mark of a case that ran as a dependency, and whose own test has not reported it yet.
    pub(crate) fn unreported(&self) -> PathBuf {
        self.locks.join(format!("{}{}.unreported", self.name, self.stress))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::model::suite_location::SuiteLocation;

    fn run(root: &Path) -> RunDirectory {
        let places = SuiteLocation { package_root: "/p".into(), suite_dir: "/p/suites/x".into() };
        RunDirectory::new(Some(root), &places, "r".into()).unwrap()
    }

    fn name(directory: &Path) -> String {
        directory.file_name().unwrap().to_string_lossy().into_owned()
    }

    #[test]
    fn tests_of_the_same_case_do_not_share_a_directory() {
        let root = tempfile::tempdir().unwrap();
        let run = run(root.path());
        let claim = |owner: &str| name(&run.claim_case("x", "a-12345678", owner, None).unwrap().attempt(1));
        assert_eq!(claim("evals::x::a"), "a-12345678");
        let other = claim("evals::again::a");
        assert!(other.starts_with("a-12345678.test-"), "{other}");
        assert_eq!((claim("evals::x::a"), claim("evals::again::a")), ("a-12345678".to_owned(), other));
    }

    #[test]
    fn the_last_attempt_that_ended_is_the_one_that_counts() {
        let root = tempfile::tempdir().unwrap();
        let run = run(root.path());
        let place = run.claim_case("x", "a-12345678", "evals::x::a", None).unwrap();
        assert_eq!(place.ended(), None);
        for attempt in [2, 3] {
            fs::create_dir_all(place.attempt(attempt)).unwrap();
        }
        fs::write(place.attempt(2).join("case.json"), "{}").unwrap();
        assert_eq!(place.ended().map(|directory| name(&directory)).as_deref(), Some("a-12345678.attempt-2"));
    }
}
