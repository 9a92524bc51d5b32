//! Files that other processes use at the same time: they are written under another name and renamed.

use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

/// End of the names of temporary files.
const TEMPORARY: &str = ".tmp";
/// Age of a temporary file that no process writes any more: writing one takes milliseconds.
const ABANDONED: Duration = Duration::from_secs(60);

/// Name of a temporary file or directory that is renamed to `name` later. It is a new one in every process, also in
/// one that has the id of another: the first process of every container has the same.
pub fn temporary_name(name: &OsStr) -> OsString {
    let random = RandomState::new().build_hasher().finish();
    format!(".{}.{random:016x}{TEMPORARY}", name.to_string_lossy()).into()
}

/// Whether a file has a name that [`temporary_name`] gave.
pub fn is_temporary(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with('.') && name.ends_with(TEMPORARY)
}

/// Writes a file. Readers see the old one or the new one. Not flushed to disk: a crash of the machine may lose it.
///
/// # Errors
///
/// If the file cannot be written; the old one is then unchanged.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_file(path, bytes, false)
}

/// Writes a file, and its directory if that does not exist. Waits until the disk has the file if `flush` asks for it.
pub fn write_file(path: &Path, bytes: &[u8], flush: bool) -> io::Result<()> {
    let write = |file: &mut File| {
        file.write_all(bytes)?;
        if flush { file.sync_all() } else { Ok(()) }
    };
    match (replace_with(path, write), path.parent()) {
        (Err(error), Some(directory)) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(directory)?;
            replace_with(path, write)
        }
        (result, _) => result,
    }
}

/// Has a temporary file in the same directory written and renames it.
pub(crate) fn replace_with<T>(path: &Path, write: impl FnOnce(&mut File) -> io::Result<T>) -> io::Result<T> {
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name"));
    };
    let temporary = path.with_file_name(temporary_name(name));
    let written = File::create_new(&temporary).and_then(|mut file| write(&mut file));
    let replaced = written.and_then(|written| fs::rename(&temporary, path).map(|()| written));
    if replaced.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    replaced
}

/// Removes temporary files that killed processes left beside a file when they wrote it.
///
/// # Errors
///
/// If the directory cannot be read, or a file cannot be removed.
pub fn remove_abandoned(path: &Path) -> io::Result<()> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let beginning = format!(".{}.", name.to_string_lossy());
    for found in sorted_entries(directory)? {
        let name = found.file_name().unwrap_or_default();
        if !is_temporary(name) || !name.to_string_lossy().starts_with(&beginning) {
            continue;
        }
        match fs::symlink_metadata(&found).and_then(|metadata| metadata.modified()) {
            Ok(time) if time.elapsed().is_ok_and(|age| age > ABANDONED) => remove_if_exists(&found)?,
            Ok(_) => {}
            // Another process has removed or renamed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Removes a file if it exists.
///
/// # Errors
///
/// If it exists and cannot be removed.
pub fn remove_if_exists(file: &Path) -> io::Result<()> {
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
pub fn sorted_entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
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

/// The error with the path it is about in its message.
pub fn error_at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

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
    fn abandoned_temporary_files_of_a_file_are_removed_and_no_others() {
        let directory = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - 2 * ABANDONED;
        for (name, time) in [
            (".file.json.0123456789abcdef.tmp", Some(old)),
            (".file.json.fedcba9876543210.tmp", None),
            (".other.json.0123456789abcdef.tmp", Some(old)),
            ("file.json", Some(old)),
        ] {
            let file = File::create(directory.path().join(name)).unwrap();
            time.map_or(Ok(()), |time| file.set_modified(time)).unwrap();
        }
        remove_abandoned(&directory.path().join("file.json")).unwrap();
        let left = sorted_entries(directory.path()).unwrap();
        let left: Vec<_> = left.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(left, [".file.json.fedcba9876543210.tmp", ".other.json.0123456789abcdef.tmp", "file.json"]);
        remove_abandoned(&directory.path().join("missing/file.json")).unwrap();
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
