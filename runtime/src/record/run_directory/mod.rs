//! The directory of a run, where this process writes.

pub(crate) mod case_directory;
pub(crate) mod digest_key;
pub(crate) mod run_id;

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use crate::model::suite_location::SuiteLocation;
use crate::platform::setting_error::SettingError;
use crate::record::run_directory::layout::{LOCKS, RUN_RECORD, SUITES};

// The names of its files.
pub(crate) use evalsuite_records::run_directory as layout;
pub(crate) use evalsuite_records::run_directory::{OutputDirectory, StoredRun};

pub(crate) use self::case_directory::CaseDirectory;

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
