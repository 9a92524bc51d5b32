//! The directory that all runs of a package or workspace are in.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use evalsuite_schema::discovery::workspace_around;
use evalsuite_schema::sorting::sort_by;

use crate::file_lock::FileLock;
use crate::file_replacement::{
    error_at, is_temporary, remove_abandoned, remove_if_exists, replace_file, sorted_entries, temporary_name,
};
use crate::record::RunRecord;
use crate::run_directory::layout::{
    BASE_WORKSPACES, LATEST, LOCK_EXTENSION, LOCKS, RUN_RECORD, RUNS, SUITES, TRIAL_RECORD, TRIAL_STARTED, WORKSPACE,
};
use crate::run_directory::read_json;
use crate::untrusted::{EntryKind, OpenError, read_to_limit, regular_file, remove_directory, walk};

/// Name of the lock of the files that packages store.
const PACKAGES_LOCK: &str = "packages.lock";
/// Name of the lock under which runs that are being made are told from those that killed processes left.
const RUNS_LOCK: &str = "runs.lock";
/// The most bytes of the file with the id of the newest run.
const LONGEST_ID: u64 = 4096;

/// The directory that all runs of a package or workspace are in, and the id of the newest one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputDirectory(PathBuf);

/// A run in an output directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRun(PathBuf);

impl OutputDirectory {
    /// The output directory at a path, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The output directory of the workspace in or around a directory; test programs and the command line both find it here.
    ///
    /// `setting` is the value of `EVALSUITE_OUTPUT`; the default is `target/evalsuite`. Both are relative to the root
    /// of the workspace, not to cargo's target directory, which a test program cannot know.
    ///
    /// # Errors
    ///
    /// If the setting is not a valid path.
    pub fn of_workspace(directory: &Path, setting: Option<&Path>) -> io::Result<Self> {
        let output = setting.unwrap_or(Path::new("target/evalsuite"));
        std::path::absolute(workspace_around(directory).join(output)).map(Self)
    }

    /// Waits for the lock under which a command reads, changes and writes what packages of a workspace store: baselines, accepted answers and
    /// probes. Its file is not in the packages, which are under version control, and it is the same one for any `EVALSUITE_OUTPUT`.
    ///
    /// # Errors
    ///
    /// If the file cannot be created, or its file system has no locks.
    #[doc(hidden)]
    pub fn lock_packages(directory: &Path) -> io::Result<FileLock> {
        let file = Self::of_workspace(directory, None)?.0.join(PACKAGES_LOCK);
        FileLock::acquire(&file).map_err(|error| error_at(&file, &error))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The directory of all runs.
    pub fn runs_directory(&self) -> PathBuf {
        self.0.join(RUNS)
    }

    /// The directory of a run, which need not exist.
    pub fn run_directory(&self, run_id: &str) -> PathBuf {
        self.runs_directory().join(run_id)
    }

    /// The run with this id, if it exists.
    pub fn run(&self, run_id: &str) -> Option<StoredRun> {
        if run_id.is_empty() { None } else { StoredRun::open(self.run_directory(run_id)) }
    }

    /// All runs, sorted by id.
    ///
    /// # Errors
    ///
    /// If the directory cannot be read.
    pub fn runs(&self) -> io::Result<Vec<StoredRun>> {
        // A directory that does not exist has no runs.
        if self.0.exists() && !self.0.is_dir() {
            return Err(error_at(&self.0, &io::ErrorKind::NotADirectory.into()));
        }
        let (_, runs) = self.directories()?;
        Ok(runs)
    }

    /// The directories of runs: those that are being made or removed, and the others.
    fn directories(&self) -> io::Result<(Vec<StoredRun>, Vec<StoredRun>)> {
        let paths = sorted_entries(&self.runs_directory())?;
        let directories = paths.into_iter().filter(|path| !path.is_symlink() && path.is_dir()).map(StoredRun);
        Ok(directories.partition(|run| is_temporary(run.0.file_name().unwrap_or_default())))
    }

    /// Makes a run of which nothing is seen before it is complete: `write` gets its directory, which is renamed then. If the process is killed,
    /// [`remove_unfinished`](Self::remove_unfinished) removes what it has written.
    ///
    /// # Errors
    ///
    /// If `write` fails, or there is such a run. Nothing is left of it then.
    #[doc(hidden)]
    pub fn make_run<E: From<io::Error>>(
        &self,
        run_id: &str,
        write: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<(), E> {
        let around = self.runs_directory().join(temporary_name(run_id.as_ref()));
        let lock = around.join(LOCKS).join("unfinished").with_extension(LOCK_EXTENSION);
        let lock = {
            // The directory is there before the lock is held that says it is in use.
            let _runs = self.lock_runs()?;
            FileLock::acquire(&lock).map_err(|error| error_at(&lock, &error))?
        };
        // A summary contains the name of the directory.
        let run = around.join(run_id);
        let made = write(&run).and_then(|()| Ok(fs::rename(&run, self.run_directory(run_id))?));
        drop(lock);
        // What is left is removed with what killed processes left, and is no part of the run.
        let _ = remove_directory(&around);
        made
    }

    /// Removes what killed processes left when they made or removed runs. Returns what cannot be removed, and why.
    #[doc(hidden)]
    pub fn remove_unfinished(&self) -> Vec<io::Error> {
        let remove = |run: &StoredRun| if run.is_in_use()? { Ok(()) } else { remove_directory(&run.0) };
        let remove_all = |(left, _): (Vec<StoredRun>, _)| {
            // One that is being made is locked once this lock is free.
            let _runs = if left.is_empty() { None } else { Some(self.lock_runs()?) };
            Ok(left.iter().filter_map(|run| Some(error_at(&run.0, &remove(run).err()?))).collect())
        };
        self.directories().and_then(remove_all).unwrap_or_else(|error| vec![error])
    }

    /// Waits for the lock of the directory of all runs.
    fn lock_runs(&self) -> io::Result<FileLock> {
        let file = self.0.join(RUNS_LOCK);
        FileLock::acquire(&file).map_err(|error| error_at(&file, &error))
    }

    /// All runs with records, the newest first; those that began in the same millisecond by id, descending.
    ///
    /// A run has none while it starts, and if it ended then.
    ///
    /// # Errors
    ///
    /// If a directory cannot be read.
    pub fn runs_newest_first(&self) -> io::Result<Vec<StoredRun>> {
        let mut runs = self.directories_newest_first()?;
        runs.retain(|run| StoredRun::open(run.path()).is_some());
        Ok(runs)
    }

    /// The directories of all runs, also of those without records, in the same order. The newest one is known by its name, also if the
    /// clock was set back since the one before.
    ///
    /// # Errors
    ///
    /// If a directory cannot be read.
    pub fn directories_newest_first(&self) -> io::Result<Vec<StoredRun>> {
        let mut runs = Vec::new();
        for run in self.runs()? {
            runs.push((run.began()?, run));
        }
        sort_by(&mut runs, |(a, run), (b, other)| (b, &other.0).cmp(&(a, &run.0)));
        let mut runs: Vec<StoredRun> = runs.into_iter().map(|(_, run)| run).collect();
        let latest = self.latest()?;
        if let Some(place) = runs.iter().position(|run| Some(run.id()) == latest) {
            runs[..=place].rotate_right(1);
        }
        Ok(runs)
    }

    /// The id of the newest run, if there is one.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn latest(&self) -> io::Result<Option<String>> {
        let file = self.0.join(LATEST);
        match regular_file(&file).and_then(|file| read_to_limit(file, LONGEST_ID)) {
            Ok(id) => Ok(Some(String::from_utf8_lossy(&id).trim().to_owned())),
            Err(OpenError::Missing) => Ok(None),
            Err(error) => Err(error_at(&file, &error.into())),
        }
    }

    /// Makes a run the newest one; `None` if there is no run.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn set_latest(&self, run_id: Option<&str>) -> io::Result<()> {
        let file = self.0.join(LATEST);
        remove_abandoned(&file)?;
        run_id.map_or_else(|| remove_if_exists(&file), |id| replace_file(&file, id.as_bytes()))
    }
}

impl StoredRun {
    /// The run in this directory; `None` if it has no records.
    pub fn open(path: impl Into<PathBuf>) -> Option<Self> {
        let path = path.into();
        (path.join(RUN_RECORD).is_file() || path.join(SUITES).is_dir()).then_some(Self(path))
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Its id.
    pub fn id(&self) -> String {
        self.0.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// When it began: `started_at` of its `run.json`; if that is missing or damaged, when its first test created the
    /// first file in the directory of locks.
    ///
    /// # Errors
    ///
    /// If neither can be read.
    pub fn began(&self) -> io::Result<SystemTime> {
        let record: Option<RunRecord> = read_json(&self.0.join(RUN_RECORD)).ok().flatten();
        if let Some(began) = record.and_then(|record| humantime::parse_rfc3339(&record.started_at).ok()) {
            return Ok(began);
        }
        let mut times = Vec::new();
        for path in sorted_entries(&self.0.join(LOCKS))? {
            match path.symlink_metadata() {
                Ok(metadata) => times.push(metadata.modified()?),
                // Temporary files are renamed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        times.into_iter().min().map_or_else(|| self.0.metadata()?.modified(), Ok)
    }

    /// Whether one of its tests is running, which then holds a lock.
    ///
    /// # Errors
    ///
    /// If a lock file cannot be opened.
    pub fn is_in_use(&self) -> io::Result<bool> {
        self.holds_lock("")
    }

    /// Whether a test of a suite is running, which is given by the name of its directory.
    ///
    /// # Errors
    ///
    /// If a lock file cannot be opened.
    pub fn is_suite_in_use(&self, suite: &str) -> io::Result<bool> {
        self.holds_lock(&format!("{suite}."))
    }

    /// Whether a lock is held whose name begins so.
    fn holds_lock(&self, beginning: &str) -> io::Result<bool> {
        for path in sorted_entries(&self.0.join(LOCKS))? {
            let name = path.file_name().unwrap_or_default();
            let is_lock = path.extension().is_some_and(|extension| extension == LOCK_EXTENSION)
                && name.to_string_lossy().starts_with(beginning);
            if is_lock && FileLock::is_held(&self.0, &Path::new(LOCKS).join(name))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Removes files of killed processes, unless one of its tests is running: temporary files, and the workspaces of
    /// trials without a record. Returns their number.
    ///
    /// # Errors
    ///
    /// If the directory cannot be read, or something cannot be removed.
    pub fn remove_leftovers(&self) -> io::Result<usize> {
        if self.is_in_use()? {
            return Ok(0);
        }
        let mut removed = 0;
        // What is in a workspace belongs to its agent.
        for found in walk(&self.0, |name| name == WORKSPACE || name == BASE_WORKSPACES) {
            let found = found?;
            let name = found.path.file_name().unwrap_or_default();
            if found.kind == EntryKind::File && is_temporary(name) {
                remove_if_exists(&found.path)?;
                removed += 1;
            } else if found.kind == EntryKind::File && name == TRIAL_STARTED {
                let trial = found.path.parent().unwrap_or(&self.0);
                let workspace = trial.join(WORKSPACE);
                if !trial.join(TRIAL_RECORD).is_file() && workspace.symlink_metadata().is_ok() {
                    remove_directory(&workspace)?;
                    removed += 1;
                }
            }
        }
        Ok(removed)
    }

    /// Removes it, even if agents made directories read-only. It is renamed first: with some of its files, it would be a run whose other tests
    /// have not run.
    ///
    /// # Errors
    ///
    /// If something cannot be removed.
    pub fn remove(self) -> io::Result<()> {
        let removed = self.0.with_file_name(temporary_name(self.0.file_name().unwrap_or_default()));
        fs::rename(&self.0, &removed)?;
        remove_directory(&removed)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_run_without_records_is_no_stored_run() {
        let directory = tempfile::tempdir().unwrap();
        let output = OutputDirectory::new(directory.path());
        replace_file(&output.run_directory("ended-at-once").join("locks/reload-shop"), b"").unwrap();
        replace_file(&output.run_directory("recorded").join(RUN_RECORD), b"{}").unwrap();
        let ids: Vec<_> = output.runs_newest_first().unwrap().iter().map(StoredRun::id).collect();
        assert_eq!(ids, ["recorded"]);
        assert_eq!(output.directories_newest_first().unwrap().len(), 2, "both can be removed");
    }

    #[test]
    fn a_run_that_is_being_made_or_removed_is_no_run_and_what_is_left_of_it_goes() {
        let directory = tempfile::tempdir().unwrap();
        let output = OutputDirectory::new(directory.path());
        let count = || sorted_entries(&output.runs_directory()).unwrap().len();
        let write = |run: &Path| replace_file(&run.join(RUN_RECORD), b"{}");
        let made = output.make_run("r", |run| {
            write(run)?;
            assert!(output.remove_unfinished().is_empty());
            assert!(run.is_dir(), "its process is alive");
            assert_eq!(output.runs()?, []);
            Ok::<_, io::Error>(())
        });
        made.unwrap();
        assert_eq!(output.runs_newest_first().unwrap().iter().map(StoredRun::id).collect::<Vec<_>>(), ["r"]);
        assert!(output.make_run("r", write).is_err(), "there is one");
        assert!(output.make_run("s", |run| write(run).and(Err(io::Error::other("no disk")))).is_err());
        assert_eq!(count(), 1, "nothing is left");

        replace_file(&output.run_directory(".s.0123456789abcdef.tmp/locks/unfinished.lock"), b"").unwrap();
        write(&output.run_directory(".s.0123456789abcdef.tmp/s")).unwrap();
        write(&output.run_directory(".t.0123456789abcdef.tmp")).unwrap();
        write(&output.run_directory(".u.tmp")).unwrap();
        assert_eq!(output.directories_newest_first().unwrap().len(), 2, "`.u.tmp` is a run");
        assert!(output.remove_unfinished().is_empty());
        assert_eq!(count(), 2);
        output.run("r").unwrap().remove().unwrap();
        assert_eq!(count(), 1);
    }

    #[test]
    #[cfg(unix)]
    fn what_cannot_be_removed_keeps_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let output = OutputDirectory::new(directory.path());
        let [stuck, left] = ["a", "b"].map(|id| output.run_directory(&format!(".{id}.0123456789abcdef.tmp")));
        fs::create_dir_all(&stuck).unwrap();
        fs::create_dir_all(&left).unwrap();
        // Whether it is in use is not known.
        std::os::unix::fs::symlink("locks", stuck.join(LOCKS)).unwrap();
        let problems = output.remove_unfinished();
        assert!(matches!(&problems[..], [problem] if problem.to_string().contains(".a.0123")), "{problems:?}");
        assert!(stuck.exists() && !left.exists());
    }

    #[test]
    fn a_run_that_is_being_made_is_kept_by_others_that_remove_what_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let output = OutputDirectory::new(directory.path());
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    assert!(output.remove_unfinished().is_empty());
                }
            });
            let made: Vec<io::Result<()>> = (0..300)
                .map(|id| output.make_run(&format!("r{id}"), |run| replace_file(&run.join(RUN_RECORD), b"{}")))
                .collect();
            is_done.store(true, Ordering::Relaxed);
            assert!(made.iter().all(Result::is_ok), "{made:?}");
        });
        assert_eq!(output.runs_newest_first().unwrap().len(), 300);
    }

    #[test]
    fn the_newest_run_is_first_although_the_clock_was_set_back_before_it() {
        let directory = tempfile::tempdir().unwrap();
        let output = OutputDirectory::new(directory.path());
        for (id, hour) in [("first", 9), ("second", 14), ("third", 8), ("fourth", 7)] {
            let mut record = RunRecord::new();
            record.started_at = format!("2026-01-04T{hour:02}:00:00.000Z");
            let record = evalsuite_schema::json::to_string(&record).unwrap();
            replace_file(&output.run_directory(id).join(RUN_RECORD), record.as_bytes()).unwrap();
        }
        let ids = || output.runs_newest_first().unwrap().iter().map(StoredRun::id).collect::<Vec<_>>();
        assert_eq!(ids(), ["second", "first", "third", "fourth"]);
        output.set_latest(Some("third")).unwrap();
        assert_eq!(ids(), ["third", "second", "first", "fourth"]);
        output.set_latest(Some("gone")).unwrap();
        assert_eq!(ids(), ["second", "first", "third", "fourth"]);
    }

    #[test]
    fn what_killed_processes_left_is_removed_unless_a_test_is_running() {
        let directory = tempfile::tempdir().unwrap();
        let run = StoredRun(directory.path().to_owned());
        let trial = "suites/s/cases/c-12345678/trial-000";
        let temporary = |name: &str| format!("{name}.0123456789abcdef.tmp");
        let left = [".run.json", "locks/.x.owner", &format!("{trial}/.result.json")].map(temporary);
        let of_agent = temporary(&format!("{trial}/workspace/.of.agent"));
        let kept = ["run.json", "x.tmp", ".x.tmp", ".hidden", &of_agent];
        let dead = "suites/s/cases/d-12345678/trial-000";
        for file in [trial, dead]
            .map(|trial| format!("{trial}/started.json"))
            .iter()
            .chain([&format!("{trial}/result.json"), &format!("{dead}/workspace/of/agent")])
        {
            replace_file(&directory.path().join(file), b"").unwrap();
        }
        for file in left.iter().map(String::as_str).chain(kept) {
            replace_file(&directory.path().join(file), b"").unwrap();
        }
        let lock = FileLock::acquire(&directory.path().join("locks/c.lock")).unwrap();
        assert_eq!(run.remove_leftovers().unwrap(), 0);
        drop(lock);
        assert_eq!((run.remove_leftovers().unwrap(), run.remove_leftovers().unwrap()), (4, 0));
        assert!(kept.iter().all(|file| directory.path().join(file).exists()));
        assert!(!directory.path().join(dead).join("workspace").exists());
    }
}
