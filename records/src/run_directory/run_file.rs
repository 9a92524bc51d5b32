//! Opening and reading files of a run, in whose place a program under test may have put something else: no link is followed,
//! nothing is waited for, and what is not a regular file or is too large is an error.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use evalsuite_schema::json::FromJson;

use crate::file_replacement::error_at;
use crate::json;
use crate::untrusted::{EntryKind, OpenError, UntrustedDirectory, regular_file};

/// Opens a regular file of the run in the directory `run`; `path` is relative to it, or below it.
///
/// # Errors
///
/// If there is no such file, or it cannot be opened.
pub fn open_run_file(run: &Path, path: &Path) -> io::Result<File> {
    Ok(UntrustedDirectory::new(run).open_record(path.strip_prefix(run).unwrap_or(path))?)
}

/// Reads a file of a run, up to the limits of its kind.
///
/// # Errors
///
/// As [`open_run_file`]; if it is too large.
pub fn read_run_file(run: &Path, path: &Path) -> io::Result<Vec<u8>> {
    Ok(UntrustedDirectory::new(run).read_record(path.strip_prefix(run).unwrap_or(path))?)
}

/// Reads a record of a run, up to the limits of its kind; `None` if it does not exist.
///
/// # Errors
///
/// As [`open_run_file`]; if it is too large, or is not such a record.
pub fn read_run_record<T: FromJson>(run: &Path, path: &Path) -> io::Result<Option<T>> {
    match UntrustedDirectory::new(run).read_record(path.strip_prefix(run).unwrap_or(path)) {
        Ok(bytes) => Ok(Some(json::decode(&bytes)?)),
        Err(OpenError::Missing) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The names of the directories and of the regular files in a directory of a run, sorted; none if it does not exist.
///
/// # Errors
///
/// If it is not a directory, or cannot be read.
pub fn run_directory_entries(run: &Path, path: &Path) -> io::Result<(Vec<OsString>, Vec<OsString>)> {
    let (mut directories, mut files) = (Vec::new(), Vec::new());
    for (name, kind) in UntrustedDirectory::new(run).join(path.strip_prefix(run).unwrap_or(path)).entries()? {
        match kind {
            EntryKind::Directory => directories.push(name),
            EntryKind::File => files.push(name),
            EntryKind::Link | EntryKind::Other => {}
        }
    }
    Ok((directories, files))
}

/// Opens a file that the user names, or that belongs to the package, without waiting. Links are followed.
///
/// # Errors
///
/// If it is not a regular file, or cannot be opened.
pub fn open_regular_file(path: &Path) -> io::Result<File> {
    // The system's own words for a file that does not exist.
    path.metadata()?;
    Ok(regular_file(path)?)
}

/// Reads JSON of a run, up to the limits of its kind; `None` without a file.
///
/// # Errors
///
/// If the file is not a regular one or too large, cannot be read, or is not JSON of this type.
pub fn read_json<T: FromJson>(path: &Path) -> io::Result<Option<T>> {
    read_json_below(path.parent().unwrap_or(Path::new("")), Path::new(path.file_name().unwrap_or_default()))
}

/// Reads JSON below a directory of a run, as [`read_json`].
///
/// # Errors
///
/// As [`read_json`].
pub fn read_json_below<T: FromJson>(directory: &Path, path: &Path) -> io::Result<Option<T>> {
    let invalid = |problem: String| {
        io::Error::new(io::ErrorKind::InvalidData, format!("{}: {problem}", directory.join(path).display()))
    };
    match UntrustedDirectory::new(directory).read_record(path) {
        Ok(bytes) => json::decode(&bytes).map(Some).map_err(|error| invalid(error.to_string())),
        Err(OpenError::Missing) => Ok(None),
        Err(OpenError::Io(error)) => Err(error),
        Err(error) => Err(invalid(format!("it {error}"))),
    }
}

/// Reads a small text of a run; `None` without a file.
///
/// # Errors
///
/// If the file is not a regular one or too large, or cannot be read.
pub fn read_text(path: &Path) -> io::Result<Option<String>> {
    let directory = UntrustedDirectory::new(path.parent().unwrap_or(Path::new("")));
    match directory.read_record(path.file_name().unwrap_or_default()) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(io::Error::other),
        Err(OpenError::Missing) => Ok(None),
        Err(error) => Err(error_at(path, &error.into())),
    }
}

/// The paths of the directories in a directory of a run, sorted; none if it does not exist. Links are left out.
///
/// # Errors
///
/// If the directory cannot be read.
pub fn sorted_directories(directory: &Path) -> io::Result<Vec<PathBuf>> {
    match UntrustedDirectory::new(directory).subdirectories() {
        Ok(names) => Ok(names.into_iter().map(|name| directory.join(name)).collect()),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;
    use std::{fs, process};

    use super::*;

    #[test]
    fn a_pipe_or_a_link_in_place_of_a_record_is_an_error_at_once() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("trial")).unwrap();
        let read = |name: &str| read_json_below::<u32>(directory.path(), &Path::new("trial").join(name));
        assert_eq!(read("missing.json").unwrap(), None);
        fs::write(directory.path().join("trial/record.json"), "7").unwrap();
        assert_eq!(read("record.json").unwrap(), Some(7));
        let pipe = directory.path().join("trial/pipe.json");
        assert!(process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(read("pipe.json").unwrap_err().to_string().contains("is a named pipe"));
        symlink("/dev/zero", directory.path().join("trial/link.json")).unwrap();
        assert!(read("link.json").unwrap_err().to_string().contains("is a symbolic link"));
    }
}
