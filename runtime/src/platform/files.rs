//! Files of JSON in which secrets are hidden, permissions, and symbolic links.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use evalsuite_schema::Value;
use evalsuite_schema::json::ToJson;

use crate::platform::environment;
use crate::platform::redaction::Redactor;
use crate::platform::untrusted::{OpenError, UntrustedDirectory};

pub(crate) use evalsuite_records::file_replacement::{
    error_at, is_temporary, remove_abandoned, remove_if_exists, replace_file, write_file,
};
pub(crate) use evalsuite_records::run_directory::{read_json, read_json_below, read_text, sorted_directories};

/// Writes JSON with secrets hidden. Readers see the old file or the new one. Flushed to disk with `EVALSUITE_DURABLE=1`.
pub(crate) fn write_json(path: &Path, value: &dyn ToJson, redactor: &Redactor) -> io::Result<()> {
    write_file(path, &encode(value, redactor)?, is_durable())
}

/// Writes JSON with secrets hidden. Readers see the old file or the new one. Not flushed to disk: a crash of the machine
/// may lose it.
pub(crate) fn replace_json(path: &Path, value: &dyn ToJson, redactor: &Redactor) -> io::Result<()> {
    write_file(path, &encode(value, redactor)?, false)
}

/// Whether records are flushed to disk before they get their names, so that also a crash of the machine loses none. The settings
/// report a value that is not valid.
fn is_durable() -> bool {
    static DURABLE: OnceLock<bool> = OnceLock::new();
    *DURABLE.get_or_init(|| matches!(environment::var("EVALSUITE_DURABLE").as_deref(), Some("1" | "true")))
}

/// JSON with secrets hidden, as it is written to a file.
pub(crate) fn encode(value: &dyn ToJson, redactor: &Redactor) -> serde_json::Result<Vec<u8>> {
    let json = redactor.to_pretty_json(value)?;
    Ok((json + "\n").into_bytes())
}

/// Files in which secrets are hidden, in a directory that programs under test may change.
pub(crate) trait RedactedFiles {
    /// Writes JSON with secrets hidden, as [`UntrustedDirectory::write`].
    fn write_json(&self, name: &str, value: &dyn ToJson, redactor: &Redactor) -> io::Result<()>;

    /// Writes JSON with secrets hidden. Flushed to disk with `EVALSUITE_DURABLE=1`.
    fn write_record(&self, name: &str, value: &dyn ToJson, redactor: &Redactor) -> io::Result<()>;

    /// Hides the secrets in a file of at most `limit` bytes that a program may have written, also the beginning of one at the
    /// end of a file that the program may not have written to the end. What cannot be searched for them is removed.
    fn redact(&self, name: &str, limit: u64, redactor: &Redactor, is_cut: bool) -> io::Result<()>;
}

impl RedactedFiles for UntrustedDirectory {
    fn write_json(&self, name: &str, value: &dyn ToJson, redactor: &Redactor) -> io::Result<()> {
        self.write(name, &encode(value, redactor)?)
    }

    fn write_record(&self, name: &str, value: &dyn ToJson, redactor: &Redactor) -> io::Result<()> {
        self.replace(name, &encode(value, redactor)?, is_durable())
    }

    fn redact(&self, name: &str, limit: u64, redactor: &Redactor, is_cut: bool) -> io::Result<()> {
        let mut bytes = match self.read(name, limit) {
            Ok(bytes) => bytes,
            Err(OpenError::Missing) => return Ok(()),
            Err(_) => return self.remove(name),
        };
        if redactor.is_empty() {
            return Ok(());
        }
        // Escapes may stand in escapes, so JSON is searched as data.
        match evalsuite_schema::json::from_slice::<Value>(&bytes) {
            Ok(data) if data.is_object() || data.is_array() => match redactor.redacted(data.clone())? {
                shown if shown == data => Ok(()),
                shown => self.write(name, shown.to_string().as_bytes()),
            },
            _ => {
                let written = bytes.len();
                if is_cut {
                    bytes.truncate(redactor.length_without_broken_end(&bytes));
                }
                if bytes.len() == written && !redactor.is_in(&bytes) {
                    return Ok(());
                }
                self.write(name, redactor.apply(&String::from_utf8_lossy(&bytes)).as_bytes())
            }
        }
    }
}

/// Permission bits, where the system has them.
#[cfg(unix)]
pub(crate) fn mode(metadata: &Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(metadata.permissions().mode() & 0o777)
}

/// Permission bits, where the system has them.
#[cfg(not(unix))]
pub(crate) fn mode(_: &Metadata) -> Option<u32> {
    None
}

/// Sets permission bits, where the system has them.
#[cfg(unix)]
pub(crate) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode & 0o777))
}

/// Sets permission bits, where the system has them.
#[cfg(not(unix))]
pub(crate) fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

/// Makes symbolic links, of which each has a path and a destination, after the files that they lead to. Nothing has their names.
pub(crate) fn make_symlinks(mut links: Vec<(PathBuf, &Path)>) -> io::Result<()> {
    let reached = |path: &Path, destination: &Path| path.parent().unwrap_or(path).join(destination);
    while !links.is_empty() {
        let leads_to_entry = |(path, destination): &(PathBuf, &Path)| reached(path, destination).exists();
        let (mut ready, waiting): (Vec<_>, Vec<_>) = links.into_iter().partition(leads_to_entry);
        links = waiting;
        if ready.is_empty() {
            // The others lead nowhere.
            ready = std::mem::take(&mut links);
        }
        for (path, destination) in ready {
            make_symlink(destination, &path, reached(&path, destination).is_dir())?;
        }
    }
    Ok(())
}

/// Makes a symbolic link at `path`. Windows has to know whether its destination is a directory.
#[cfg(unix)]
pub(crate) fn make_symlink(destination: &Path, path: &Path, _to_directory: bool) -> io::Result<()> {
    std::os::unix::fs::symlink(destination, path)
}

/// Makes a symbolic link at `path`. Windows has to know whether its destination is a directory, and follows no `/` in a link.
#[cfg(windows)]
pub(crate) fn make_symlink(destination: &Path, path: &Path, to_directory: bool) -> io::Result<()> {
    let destination: PathBuf = destination.components().collect();
    if to_directory {
        std::os::windows::fs::symlink_dir(destination, path)
    } else {
        std::os::windows::fs::symlink_file(destination, path)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn records_wait_for_the_disk_only_where_that_is_asked_for() {
        assert!(!is_durable());
    }

    #[test]
    #[cfg_attr(windows, ignore = "Wine 8 does not follow a link to a link; on Windows it has not run yet")]
    fn links_are_made_after_what_they_lead_to() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::create_dir(path("directory")).unwrap();
        fs::write(path("directory/file"), "x").unwrap();
        let links = vec![
            (path("a"), Path::new("b")),
            (path("b"), Path::new("directory")),
            (path("c"), Path::new("nowhere")),
            (path("d"), Path::new("a/file")),
        ];
        match make_symlinks(links) {
            // Windows lets only administrators and developers make links.
            Err(error) if cfg!(windows) && error.raw_os_error().is_some() => return,
            made => made.unwrap(),
        }
        assert_eq!(fs::read_to_string(path("a/file")).unwrap(), "x");
        assert_eq!(fs::read_to_string(path("d")).unwrap(), "x");
        assert_eq!(fs::read_link(path("c")).unwrap(), Path::new("nowhere"));
    }
}
