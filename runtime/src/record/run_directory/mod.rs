pub(crate) mod case_directory;

use std::{
    hash::{BuildHasher, Hasher},
    io,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use crate::{
    model::suite_location::SuiteLocation,
    platform::{
        clock::compact_timestamp,
        digest::{file_key, safe},
        files::replace_file,
    },
};

pub(crate) use self::case_directory::CasePlace;

/// Where the records of a run are written.
#[derive(Debug, Clone)]
pub(crate) struct RunDirectory {
    pub(crate) run_id: String,
    path: PathBuf,
}

impl RunDirectory {
    /// The directory of this run; it is not made before something is written.
    ///
    /// # Errors
    ///
    /// If it would lie in the suite, where every new file would cause a rebuild.
    pub(crate) fn new(output: Option<&Path>, places: &SuiteLocation, run_id: String) -> Result<Self, String> {
        let root = output_root(output, places)?;
        if let Some(watched) = places.rebuild_trigger_around(&root) {
            return Err(format!(
                "the output directory {} lies in {watched}; set EVALSUITE_OUTPUT to another one",
                root.display()
            ));
        }
        Ok(Self { path: root.join("runs").join(&run_id), run_id })
    }

    /// A run that is there already.
    pub(crate) fn at(path: PathBuf) -> Self {
        let run_id = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { run_id, path }
    }

    /// The directory itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Directory of a suite.
    pub(crate) fn suite(&self, name: &str) -> PathBuf {
        self.path.join("suites").join(file_key(name))
    }

    /// Directory of lock files and of the results of work done once per run.
    pub(crate) fn locks(&self) -> PathBuf {
        self.path.join("locks")
    }

    /// Makes this run the newest one.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub(crate) fn mark_latest(&self) -> io::Result<()> {
        match self.path.parent().and_then(Path::parent) {
            Some(root) => replace_file(&root.join("latest"), self.run_id.as_bytes()),
            None => Ok(()),
        }
    }
}

/// Name of the directory of an attempt at a trial; both count from 0.
pub(crate) fn trial_directory(trial: u32, attempt: u32) -> String {
    match attempt {
        0 => format!("trial-{trial:03}"),
        _ => format!("trial-{trial:03}.retry-{attempt}"),
    }
}

/// Id of the runs of this process, where neither the user nor the test runner gives one.
pub(crate) fn run_id(given: Option<&str>) -> String {
    static OWN: OnceLock<String> = OnceLock::new();
    match given {
        Some(id) => as_name(id),
        None => OWN.get_or_init(new_run_id).clone(),
    }
}

/// An id as the name of a directory.
pub(crate) fn as_name(id: &str) -> String {
    match safe(id) {
        // These two would be other directories.
        id if id == "." || id == ".." => id.replace('.', "_"),
        id => id,
    }
}

/// An id no other run has: the time and 6 random hexadecimal digits.
pub(crate) fn new_run_id() -> String {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    // The standard library's hash keys are random per process; the counter tells runs of one process apart.
    let mut hasher = std::hash::RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.write_u32(COUNTER.fetch_add(1, Ordering::Relaxed));
    format!("{}-{:06x}", compact_timestamp(), hasher.finish() & 0x00ff_ffff)
}

fn output_root(output: Option<&Path>, places: &SuiteLocation) -> Result<PathBuf, String> {
    if let Some(output) = output {
        return std::path::absolute(output)
            .map_err(|error| format!("EVALSUITE_OUTPUT is {}, which is no place: {error}", output.display()));
    }
    let executable = std::env::current_exe().ok();
    let target = executable
        .as_deref()
        .and_then(|executable| executable.ancestors().skip(1).find(|dir| dir.join("CACHEDIR.TAG").is_file()));
    Ok(target.map_or_else(|| places.package_root.join("target"), Path::to_owned).join("evalsuite"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_id_cannot_leave_its_directory() {
        let id = |text: &str| run_id(Some(text));
        assert_eq!(id("../x y"), ".._x_y");
        assert_eq!(id(".."), "__");
        assert_ne!(new_run_id(), new_run_id());
        assert_eq!(new_run_id().len(), "20260104T091500Z-4be1f0".len());
    }

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
