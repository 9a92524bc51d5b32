//! The directories of a case in a run: one per test, runner attempt and stress index.

use std::io;
use std::path::{Path, PathBuf};

use crate::platform::digest::{safe, sha256};
use crate::platform::file_lock::FileLock;
use crate::record::run_directory::RunDirectory;
use crate::record::run_directory::layout::{CASE_RECORD, CASES, CaseDirectoryName};

/// Where the case of one test is recorded and locked.
#[derive(Debug, Clone)]
pub(crate) struct CaseDirectory {
    /// Key of the suite.
    suite: String,
    cases: PathBuf,
    locks: PathBuf,
    /// Of the first runner attempt.
    name: CaseDirectoryName,
}

impl RunDirectory {
    /// The directory of a case for the test `owner` only: a suite can be included several times, with different agents or in
    /// different test programs, and their tests run at the same time. The first test gets the directory named after the
    /// case's key. The names of the others' directories end in a digest of the test.
    pub(crate) fn claim_case(
        &self,
        suite: &str,
        case_key: &str,
        owner: &str,
        stress: Option<&str>,
    ) -> io::Result<CaseDirectory> {
        let owner = &sha256(owner)[..8];
        let locks = self.locks();
        let is_first = claim(&locks.join(format!("{suite}.{case_key}.owner")), owner)?;
        let name = CaseDirectoryName {
            case_key: case_key.to_owned(),
            test: (!is_first).then(|| owner.to_owned()),
            attempt: 1,
            stress: stress.map(safe),
        };
        Ok(CaseDirectory { suite: suite.to_owned(), cases: self.suite(suite).join(CASES), locks, name })
    }
}

impl CaseDirectory {
    /// Directory of a runner attempt, from 1.
    pub(crate) fn attempt(&self, attempt: u32) -> PathBuf {
        self.cases.join(CaseDirectoryName { attempt, ..self.name.clone() }.to_string())
    }

    /// Directory of the last runner attempt that has ended.
    pub(crate) fn last_ended_attempt(&self) -> Option<PathBuf> {
        let ended = |attempt| Some(self.attempt(attempt)).filter(|directory| directory.join(CASE_RECORD).is_file());
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

    /// Name of the lock file of the case. Stress runs of a case share it.
    pub(crate) fn lock_file(&self) -> String {
        self.name.lock_file(&self.suite)
    }

    /// Waits until no test runs the case.
    pub(crate) fn lock(&self) -> io::Result<FileLock> {
        FileLock::acquire(&self.locks.join(self.lock_file()))
    }

    /// Marks a result of the case that was made for a case that depends on it, and that its own test has not reported yet.
    pub(crate) fn unreported_mark(&self) -> PathBuf {
        self.locks.join(format!("{}.{}.unreported", self.suite, self.name))
    }
}

/// Makes `owner`, which is not empty, the owner of a file unless it has one; returns whether `owner` owns it. Whoever locks the
/// file finds its owner in it. An empty file, which a killed process may leave, has none.
fn claim(file: &Path, owner: &str) -> io::Result<bool> {
    let lock = FileLock::acquire(file)?;
    let found = lock.read()?;
    if found.is_empty() {
        lock.write(owner.as_bytes())?;
    }
    Ok(found.is_empty() || found == owner.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::model::suite_location::SuiteLocation;

    fn run(root: &Path) -> RunDirectory {
        let suite = SuiteLocation { package_root: "/p".into(), suite_dir: "/p/suites/x".into() };
        RunDirectory::new(Some(root), &suite, "r".into()).unwrap()
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
        assert_eq!(place.last_ended_attempt(), None);
        for attempt in [2, 3] {
            fs::create_dir_all(place.attempt(attempt)).unwrap();
        }
        fs::write(place.attempt(2).join(CASE_RECORD), "{}").unwrap();
        assert_eq!(
            place.last_ended_attempt().map(|directory| name(&directory)).as_deref(),
            Some("a-12345678.attempt-2")
        );
    }

    #[test]
    fn a_file_has_one_owner_however_many_ask() {
        for left_behind in [None, Some("")] {
            let directory = tempfile::tempdir().unwrap();
            let file = directory.path().join("case.owner");
            if let Some(content) = left_behind {
                std::fs::write(&file, content).unwrap();
            }
            let claim = |owner: &'static str| {
                let file = file.clone();
                move || (owner, claim(&file, owner).unwrap())
            };
            let claims: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..32).map(|n| scope.spawn(claim(["a", "b", "c", "d"][n % 4]))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let owner = std::fs::read_to_string(&file).unwrap();
            for (asked, is_owner) in claims {
                assert_eq!(is_owner, asked == owner, "{asked} asked, {owner} is the owner");
            }
        }
    }
}
