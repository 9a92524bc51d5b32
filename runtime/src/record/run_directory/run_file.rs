//! Opens and reads files of a run, which a program under test may have replaced: without following links, without
//! waiting, and with an error for files that are not regular or too large.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::platform::json;
use crate::platform::untrusted;
use crate::platform::untrusted::{EntryKind, OpenError, UntrustedDirectory};

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
pub fn read_run_record<T: DeserializeOwned>(run: &Path, path: &Path) -> io::Result<Option<T>> {
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
    Ok(untrusted::regular_file(path)?)
}
