//! The directory of a run, where this process writes: its id, the directories of cases (one per test, runner attempt and stress index), and
//! keyed digests of values that may be secret. The key is outside of run directories, so that records do not help to guess values.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;
use std::{io, process};

use crate::model::suite_location::SuiteLocation;
use crate::platform::clock::compact_timestamp;
use crate::platform::digest::{file_key, safe, sha256, sha256_with_key, usable};
use crate::platform::errors::SettingError;
use crate::platform::file_lock::FileLock;
use crate::platform::files::set_mode;
use crate::platform::process::test_runner::CargoParent;
use crate::record::run_directory::layout::{
    CASE_RECORD, CASES, CaseDirectoryName, DIGEST_KEY, LOCKS, RUN_RECORD, SUITES,
};

// The names of its files.
pub(crate) use evalsuite_records::run_directory as layout;

pub(crate) use evalsuite_records::run_directory::{OutputDirectory, StoredRun};

/// Where the records of a run are written.
#[derive(Debug, Clone)]
pub(crate) struct RunDirectory {
    pub(crate) run_id: String,
    path: PathBuf,
}

impl RunDirectory {
    /// The directory of this run. It is made when the first file in it is written.
    pub(crate) fn new(output: Option<&Path>, suite: &SuiteLocation, run_id: String) -> Result<Self, SettingError> {
        let output = output_directory(output, suite)?;
        check_output(output.path(), suite)?;
        Ok(Self { path: output.run_directory(&run_id), run_id })
    }

    /// The run directory at a path.
    #[cfg(feature = "grader-tests")]
    pub(crate) fn existing(path: PathBuf) -> Self {
        let run_id = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { run_id, path }
    }

    /// The directory itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The directory that all runs are in.
    pub(crate) fn output(&self) -> Option<&Path> {
        self.path.parent().and_then(Path::parent)
    }

    /// The run's record.
    pub(crate) fn record_file(&self) -> PathBuf {
        self.path.join(RUN_RECORD)
    }

    /// Directory of all suites.
    pub(crate) fn suites(&self) -> PathBuf {
        self.path.join(SUITES)
    }

    /// Directory of the suite with this [key](crate::model::suite::EvalSuite::key).
    pub(crate) fn suite(&self, key: &str) -> PathBuf {
        self.suites().join(key)
    }

    /// Directory of lock files and of the results of work done once per run.
    pub(crate) fn locks(&self) -> PathBuf {
        self.path.join(LOCKS)
    }

    /// Makes a mark in the run; returns whether no other test has made it.
    pub(crate) fn mark(&self, name: &str) -> bool {
        let locks = self.locks();
        fs::create_dir_all(&locks).and_then(|()| File::create_new(locks.join(name))).is_ok()
    }

    /// Makes this run the newest one of its output directory.
    pub(crate) fn mark_latest(&self) -> io::Result<()> {
        match self.output() {
            Some(root) => OutputDirectory::new(root).set_latest(Some(&self.run_id)),
            None => Ok(()),
        }
    }
}

/// Checks once per process that a directory is in none of which every new file causes a rebuild.
fn check_output(root: &Path, suite: &SuiteLocation) -> Result<(), SettingError> {
    static OUTSIDE: Mutex<BTreeSet<(PathBuf, PathBuf)>> = Mutex::new(BTreeSet::new());
    let known = || OUTSIDE.lock().unwrap_or_else(PoisonError::into_inner);
    let checked = (root.to_owned(), suite.suite_dir.clone());
    if known().contains(&checked) {
        return Ok(());
    }
    if let Some(tracked) = suite.rebuild_trigger_around(root) {
        return Err(format!(
            "the output directory {} is in {tracked}; set EVALSUITE_OUTPUT to another directory",
            root.display()
        )
        .into());
    }
    known().insert(checked);
    Ok(())
}

/// The output directory of the package that cargo or nextest runs, else of the suite's package, else, where that does not exist
/// either, of the current directory.
fn output_directory(setting: Option<&Path>, suite: &SuiteLocation) -> Result<OutputDirectory, SettingError> {
    let packages = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).into_iter();
    let package = packages.chain([suite.package_root.clone()]).find(|package| package.is_dir());
    let found = match package {
        Some(package) => OutputDirectory::of_workspace(&package, setting),
        None => std::env::current_dir().and_then(|here| OutputDirectory::of_workspace(&here, setting)),
    };
    found.map_err(|error| format!("the directory of the records is not known: {error}").into())
}

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

    /// Says which process of the test runner made the last result of the case.
    pub(crate) fn maker_mark(&self) -> PathBuf {
        self.locks.join(format!("{}.{}.maker", self.suite, self.name))
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

/// Length of a key: SHA-256 in hexadecimal.
const LENGTH: usize = 64;

/// HMAC-SHA-256 of a text with the key of an output directory, in hexadecimal. The key is made when it is first needed. Digests of two
/// output directories cannot be compared.
pub(crate) fn keyed_digest(output: &Path, text: &str) -> io::Result<String> {
    fs::create_dir_all(output)?;
    // The output directory belongs to the user, and may be a link.
    let file = fs::canonicalize(output)?.join(DIGEST_KEY);
    let lock = FileLock::acquire(&file)?;
    let mut key = String::from_utf8_lossy(&lock.read()?).into_owned();
    if key.len() != LENGTH {
        set_mode(&file, 0o600)?;
        key = random_key();
        lock.replace(key.as_bytes())?;
    }
    Ok(sha256_with_key(&key, text))
}

/// 128 bits that the operating system made: the standard library has no other source of random numbers.
fn random_key() -> String {
    let keys = RandomState::new();
    let numbers: Vec<u64> = (0..4).map(|number| keys.hash_one((number, process::id(), SystemTime::now()))).collect();
    sha256(format!("{numbers:?}"))
}

/// The run id that the user or the test runner gives, else the one of the cargo process that started this test program: all test programs of
/// one `cargo test` are one run. Without either, the one of this process.
pub(crate) fn run_id(given: Option<&str>) -> String {
    static OWN: OnceLock<String> = OnceLock::new();
    match given {
        Some(id) => directory_name(id),
        None => OWN.get_or_init(|| CargoParent::find().map_or_else(new_run_id, |cargo| of_cargo(&cargo))).clone(),
    }
}

/// The run id as the name of its directory. In an id that is none, characters other than ASCII letters, digits, `-`, `_` and `.` become `_`, and
/// a digest of the id follows: `7/1` and `7 1` are two runs. So does it where Windows does not take the name, or it is too long.
/// Without an id, a new one.
pub fn run_id_or_new(id: Option<&str>) -> String {
    id.map_or_else(new_run_id, directory_name)
}

fn directory_name(id: &str) -> String {
    let is_name = !id.is_empty() && id.len() <= LONGEST_NAME && usable(safe(id)) == id;
    if is_name { id.to_owned() } else { file_key(id) }
}

/// Longest name of a run's directory, in bytes: names of files have at most 255, and temporary ones are longer.
const LONGEST_NAME: usize = 200;

/// The time when cargo started and 6 hexadecimal digits that no other process of cargo has.
fn of_cargo(cargo: &CargoParent) -> String {
    let digest = sha256(cargo.identity());
    format!("{}-{}", compact_timestamp(cargo.started), &digest[..6])
}

/// An id that no other run has: the time and 6 random hexadecimal digits.
pub(crate) fn new_run_id() -> String {
    // The standard library's hash keys are random, and others every time.
    let random = RandomState::new().build_hasher().finish();
    format!("{}-{:06x}", compact_timestamp(SystemTime::now()), random & 0x00ff_ffff)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::model::suite_location::SuiteLocation;

    #[test]
    fn records_are_not_written_into_the_suite() {
        let places = SuiteLocation { package_root: "/p".into(), suite_dir: "/p/suites/x".into() };
        assert!(RunDirectory::new(Some(Path::new("/p/suites/x/out")), &places, "r".into()).is_err());
        assert!(RunDirectory::new(Some(Path::new("/p/suites/xy")), &places, "r".into()).is_ok());

        let beside_manifest = SuiteLocation { package_root: "/p".into(), suite_dir: "/p".into() };
        assert!(RunDirectory::new(Some(Path::new("/p/target/evalsuite")), &beside_manifest, "r".into()).is_ok());

        let package = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(package.path().join("suites/x")).unwrap();
        let places = SuiteLocation { package_root: package.path().into(), suite_dir: package.path().join("suites/x") };
        let around = package.path().join("suites/../suites/x/out");
        assert!(RunDirectory::new(Some(&around), &places, "r".into()).is_err());
    }

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

    #[test]
    fn digests_of_one_output_directory_are_comparable_and_of_two_are_not() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let digest = |output: &tempfile::TempDir, text| keyed_digest(output.path(), text).unwrap();
        let first = digest(&one, "a");
        assert_eq!((first.len(), digest(&one, "a")), (LENGTH, first.clone()));
        assert_ne!(digest(&one, "b"), first);
        assert_ne!(digest(&other, "a"), first);
        assert_ne!(sha256("a"), first);
        let file = one.path().join(DIGEST_KEY);
        #[cfg(unix)]
        assert_eq!(crate::platform::files::mode(&fs::metadata(&file).unwrap()), Some(0o600));
        fs::write(&file, "torn").unwrap();
        assert_ne!(digest(&one, "a"), first, "a torn key is replaced");
    }

    #[test]
    fn different_ids_are_different_runs() {
        let long = "x".repeat(300);
        let others = [format!("{long}y"), "a/b".to_owned(), "a b".to_owned(), "a_b".to_owned(), "a\\b".to_owned()];
        let more = ["é", "ü", "_", "con", "_con", "run.", "run_", ".hidden", "_hidden"].map(str::to_owned);
        let all: Vec<String> = others.into_iter().chain(more).chain([long]).collect();
        let names: BTreeSet<String> = all.iter().map(|id| run_id(Some(id))).collect();
        assert_eq!(names.len(), all.len(), "{names:?}");
        assert!(names.iter().all(|name| name.len() <= LONGEST_NAME), "{names:?}");
        assert_eq!(run_id(Some("12345-1")), "12345-1", "a name stays as it is");
    }

    #[test]
    fn a_run_id_cannot_lead_out_of_its_directory() {
        let id = |text: &str| run_id(Some(text));
        for (given, start) in [("../x y", ".._x_y-"), ("..", "..-"), ("con", "con-"), ("run.", "run.-")] {
            let name = id(given);
            assert!(name.starts_with(start) && name.len() == start.len() + 8, "{name}");
            assert_eq!(usable(safe(&name)), name, "as on every other system");
            assert_eq!(id(&name), name, "programs that the run starts get the name");
        }
        assert_ne!(new_run_id(), new_run_id());
        assert_eq!(new_run_id().len(), "20260104T091500Z-4be1f0".len());
    }
}
