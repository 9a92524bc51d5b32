//! The directory that all runs of a package or workspace are in.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use crate::platform::file_lock::FileLock;
use crate::platform::files::{remove_if_exists, replace_file, sorted_entries};
use crate::platform::untrusted::remove_directory;
use crate::record::run_directory::layout::{LATEST, LOCK_EXTENSION, LOCKS, RUN_RECORD, RUNS, SUITES};

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
        let runs = sorted_entries(&self.runs_directory())?;
        Ok(runs.into_iter().filter(|path| !path.is_symlink() && path.is_dir()).map(StoredRun).collect())
    }

    /// The id of the newest run, if there is one.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn latest(&self) -> io::Result<Option<String>> {
        match fs::read_to_string(self.0.join(LATEST)) {
            Ok(id) => Ok(Some(id.trim().to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes a run the newest one; `None` if there is no run.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn set_latest(&self, run_id: Option<&str>) -> io::Result<()> {
        let file = self.0.join(LATEST);
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

    /// When it began: its first test makes the first file in the directory of locks.
    ///
    /// # Errors
    ///
    /// If it cannot be found out.
    pub fn began(&self) -> io::Result<SystemTime> {
        let mut times = Vec::new();
        for path in sorted_entries(&self.0.join(LOCKS))? {
            match path.metadata() {
                Ok(metadata) => times.push(metadata.modified()?),
                // Temporary files are renamed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        times.into_iter().min().map_or_else(|| self.0.metadata()?.modified(), Ok)
    }

    /// Whether one of its tests is running: then it holds a lock.
    ///
    /// # Errors
    ///
    /// If a lock file cannot be opened.
    pub fn is_in_use(&self) -> io::Result<bool> {
        for path in sorted_entries(&self.0.join(LOCKS))? {
            let is_lock = path.extension().is_some_and(|extension| extension == LOCK_EXTENSION);
            if is_lock && FileLock::try_acquire(&path)?.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Removes it, even if agents made directories read-only.
    ///
    /// # Errors
    ///
    /// If something cannot be removed.
    pub fn remove(self) -> io::Result<()> {
        remove_directory(&self.0)
    }
}
