mod case_place;

use std::{
    fs::{self, File},
    hash::{BuildHasher, Hasher},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    clock::compact_timestamp,
    digest::{file_key, safe},
    json,
    place::Places,
    redaction::Redactor,
    settings::Settings,
};

pub(crate) use case_place::{CasePlace, remove_if_there};

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
    pub(crate) fn new(settings: &Settings, places: &Places, run_id: String) -> Result<Self, String> {
        let root = output_root(settings, places)?;
        if let Some(watched) = places.watched(&root) {
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
            Some(root) => replace(&root.join("latest"), self.run_id.as_bytes()),
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
pub(crate) fn run_id(settings: &Settings) -> String {
    static OWN: OnceLock<String> = OnceLock::new();
    match settings.run_id.as_ref().or(settings.runner.run_id.as_ref()) {
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

fn output_root(settings: &Settings, places: &Places) -> Result<PathBuf, String> {
    if let Some(output) = &settings.output {
        return std::path::absolute(output)
            .map_err(|error| format!("EVALSUITE_OUTPUT is {}, which is no place: {error}", output.display()));
    }
    let executable = std::env::current_exe().ok();
    let target = executable
        .as_deref()
        .and_then(|executable| executable.ancestors().skip(1).find(|dir| dir.join("CACHEDIR.TAG").is_file()));
    Ok(target.map_or_else(|| places.package_root.join("target"), Path::to_owned).join("evalsuite"))
}

/// Reads JSON; `None` without a file.
///
/// # Errors
///
/// If the file cannot be read, or is something else.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    json::decode(&bytes)
        .map(Some)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", path.display())))
}

/// Writes JSON so that readers see a whole file or none, with secrets hidden. It is on the disk afterwards.
///
/// # Errors
///
/// If the file cannot be written.
pub(crate) fn write_json(path: &Path, value: &impl Serialize, redactor: &Redactor) -> io::Result<()> {
    write_file(path, &encode(value, redactor)?, true)
}

/// The same without waiting for the disk: enough for what only counts as long as the machine is up.
///
/// # Errors
///
/// If the file cannot be written.
pub(crate) fn replace_json(path: &Path, value: &impl Serialize, redactor: &Redactor) -> io::Result<()> {
    write_file(path, &encode(value, redactor)?, false)
}

/// Writes a file so that readers see the old one or the new one, without waiting for the disk.
///
/// # Errors
///
/// If the file cannot be written; what stood there before is then still there.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_file(path, bytes, false)
}

fn encode(value: &impl Serialize, redactor: &Redactor) -> serde_json::Result<Vec<u8>> {
    let mut value = serde_json::to_value(value)?;
    redactor.apply_to(&mut value);
    let mut bytes = serde_json::to_vec_pretty(&value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Writes to a temporary name in the same directory, flushes to disk if asked to, and renames.
fn write_file(path: &Path, bytes: &[u8], flush: bool) -> io::Result<()> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"));
    };
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let temporary = directory.join(format!(".{}.{}-{number}.tmp", name.to_string_lossy(), std::process::id()));
    let created = match File::create_new(&temporary) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(directory)?;
            File::create_new(&temporary)
        }
        result => result,
    };
    let written = created.and_then(|mut file| {
        file.write_all(bytes)?;
        if flush { file.sync_all() } else { Ok(()) }
    });
    let result = written.and_then(|()| fs::rename(&temporary, path));
    if result.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_id_cannot_leave_its_directory() {
        let id = |text: &str| run_id(&Settings { run_id: Some(text.into()), ..Settings::default() });
        assert_eq!(id("../x y"), ".._x_y");
        assert_eq!(id(".."), "__");
        assert_ne!(new_run_id(), new_run_id());
        assert_eq!(new_run_id().len(), "20260104T091500Z-4be1f0".len());
    }

    #[test]
    fn records_are_not_written_into_the_suite() {
        let places = Places { package_root: "/p".into(), suite_dir: "/p/suites/x".into() };
        let settings = |output: &str| Settings { output: Some(output.into()), ..Settings::default() };
        assert!(RunDirectory::new(&settings("/p/suites/x/out"), &places, "r".into()).is_err());
        assert!(RunDirectory::new(&settings("/p/suites/xy"), &places, "r".into()).is_ok());

        let beside_manifest = Places { package_root: "/p".into(), suite_dir: "/p".into() };
        assert!(RunDirectory::new(&settings("/p/target/evalsuite"), &beside_manifest, "r".into()).is_ok());

        let package = tempfile::tempdir().unwrap();
        fs::create_dir_all(package.path().join("suites/x")).unwrap();
        let places = Places { package_root: package.path().into(), suite_dir: package.path().join("suites/x") };
        let around = package.path().join("suites/../suites/x/out");
        assert!(RunDirectory::new(&settings(around.to_str().unwrap()), &places, "r".into()).is_err());
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_is_left_behind() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("deep/file.json");
        write_file(&path, b"one", true).unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
