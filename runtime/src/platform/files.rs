//! Reading and writing files that other processes use at the same time.

use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::platform::json;
use crate::platform::redaction::Redactor;

/// End of the names of temporary files.
const TEMPORARY: &str = ".tmp";

/// Reads JSON; `None` without a file.
///
/// # Errors
///
/// If the file cannot be read, or is not JSON of this type.
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

/// Writes JSON with secrets hidden, flushed to disk. Readers see the old file or the new one.
///
/// # Errors
///
/// If the file cannot be written.
pub(crate) fn write_json(path: &Path, value: &impl Serialize, redactor: &Redactor) -> io::Result<()> {
    write_file(path, &encode(value, redactor)?, true)
}

/// Writes JSON with secrets hidden. Readers see the old file or the new one. Not flushed to disk: a crash of the machine
/// may lose it.
///
/// # Errors
///
/// If the file cannot be written.
pub(crate) fn replace_json(path: &Path, value: &impl Serialize, redactor: &Redactor) -> io::Result<()> {
    write_file(path, &encode(value, redactor)?, false)
}

/// Writes a file. Readers see the old one or the new one. Not flushed to disk: a crash of the machine may lose it.
///
/// # Errors
///
/// If the file cannot be written; the old one is then unchanged.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_file(path, bytes, false)
}

/// JSON with secrets hidden, as it is written to a file.
pub(crate) fn encode(value: &impl Serialize, redactor: &Redactor) -> serde_json::Result<Vec<u8>> {
    let mut bytes = redactor.to_pretty_json(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Name of a temporary file or directory that stands for `name` until it is renamed. It is a new one in every process, also in
/// one that has the id of another: the first process of every container has the same.
pub(crate) fn temporary_name(name: &OsStr) -> OsString {
    let random = RandomState::new().build_hasher().finish();
    format!(".{}.{random:016x}{TEMPORARY}", name.to_string_lossy()).into()
}

/// Whether a file has a name that [`temporary_name`] gave.
pub(crate) fn is_temporary(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with('.') && name.ends_with(TEMPORARY)
}

/// Writes to a temporary file in the same directory and renames it.
fn write_file(path: &Path, bytes: &[u8], flush: bool) -> io::Result<()> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name"));
    };
    let temporary = directory.join(temporary_name(name));
    let created = match File::create_new(&temporary) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(directory)?;
            File::create_new(&temporary)
        }
        result => result,
    };
    let written = created.and_then(|mut file| {
        #[cfg(test)]
        tests::delay();
        file.write_all(bytes)?;
        #[cfg(test)]
        tests::delay();
        if flush { file.sync_all() } else { Ok(()) }
    });
    let result = written.and_then(|()| fs::rename(&temporary, path));
    if result.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    result
}

/// The error with the path it is about in its message.
pub(crate) fn error_at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Removes a file if it exists.
///
/// # Errors
///
/// If it exists and cannot be removed.
pub(crate) fn remove_if_exists(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// The paths in a directory, sorted; empty if it does not exist.
///
/// # Errors
///
/// If the directory cannot be read.
pub(crate) fn sorted_entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let mut paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
pub(crate) use self::tests::delayed_writes;

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeSet;
    use std::thread;
    use std::time::Duration;

    use super::*;

    thread_local! {
        static DELAY: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    /// Runs `work` with a pause between any two steps of a write of this thread.
    pub(crate) fn delayed_writes<T>(pause: Duration, work: impl FnOnce() -> T) -> T {
        DELAY.set(pause);
        let result = work();
        DELAY.set(Duration::ZERO);
        result
    }

    pub(super) fn delay() {
        thread::sleep(DELAY.get());
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_is_left_behind() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("deep/file.json");
        write_file(&path, b"one", true).unwrap();
        replace_file(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_temporary_file_of_a_killed_process_with_the_same_id_is_not_in_the_way() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file.json");
        let names: BTreeSet<_> = (0..100).map(|_| temporary_name(OsStr::new("file.json"))).collect();
        assert_eq!(names.len(), 100);
        for number in 0..100 {
            let name = format!(".file.json.{}-{number}.tmp", std::process::id());
            fs::write(directory.path().join(name), "left behind").unwrap();
        }
        replace_file(&path, b"one").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
    }
}
