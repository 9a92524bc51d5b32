//! Files that other processes use at the same time: they are written under another name and renamed.
//!
//! Files of the user, which may exist: they are replaced as a whole, and keep their mode, their owner, their line ends, and links to them.

use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

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
    let random = name.strip_suffix(TEMPORARY).and_then(|name| name.strip_prefix('.')?.rsplit_once('.'));
    let is_digit = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
    random.is_some_and(|(_, random)| random.len() == 16 && random.bytes().all(is_digit))
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
fn replace_with<T>(path: &Path, write: impl FnOnce(&mut File) -> io::Result<T>) -> io::Result<T> {
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

/// Writes a file of the user. Readers see the old content or the new one; if it cannot be written to the end, such as to a full disk, the old
/// one stays. A link stays a link, to the new content. What is not a regular file, such as a pipe, is written to.
///
/// # Errors
///
/// If the file cannot be written or must not be, or `write` fails.
pub fn replace_user_file<T>(path: &Path, write: impl FnOnce(&mut File) -> io::Result<T>) -> io::Result<T> {
    let target = if_exists(fs::canonicalize(path))?;
    let path = target.as_deref().unwrap_or(path);
    let old = if_exists(fs::metadata(path))?;
    if let Some(old) = &old {
        // A file that cannot be opened to be changed must not be replaced either.
        let mut file = OpenOptions::new().write(true).open(path)?;
        if !old.is_file() {
            return write(&mut file);
        }
    }
    replace_with(path, |file| {
        old.map_or(Ok(()), |old| keep_attributes(file, &old))?;
        let written = write(file)?;
        file.sync_all()?;
        Ok(written)
    })
}

/// Writes a text file of the user, as [`replace_user_file`]. If all lines of the old text end with `\r\n`, those of the new one do.
///
/// # Errors
///
/// If the file cannot be read or written, or must not be.
pub fn replace_user_text(path: &Path, text: &str) -> io::Result<()> {
    let is_file = if_exists(fs::metadata(path))?.is_some_and(|metadata| metadata.is_file());
    let old = if is_file { fs::read(path)? } else { Vec::new() };
    let text = with_line_ends_of(&old, text);
    replace_user_file(path, |file| file.write_all(text.as_bytes()))
}

fn with_line_ends_of<'t>(old: &[u8], text: &'t str) -> Cow<'t, str> {
    let mut lines = old.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")).peekable();
    if lines.peek().is_some() && lines.all(|line| line.ends_with(b"\r\n")) {
        Cow::Owned(text.replace("\r\n", "\n").replace('\n', "\r\n"))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(unix)]
fn keep_attributes(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};

    let made = file.metadata()?;
    if (made.uid(), made.gid()) != (old.uid(), old.gid()) {
        // Without the permission for it, the file is of whoever writes it.
        let _ = fchown(file, Some(old.uid()), Some(old.gid()));
    }
    file.set_permissions(old.permissions())
}

#[cfg(not(unix))]
fn keep_attributes(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}

fn if_exists<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
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

    #[test]
    fn what_cannot_be_written_to_the_end_leaves_the_old_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("case.yaml");
        replace_user_text(&path, "old\n").unwrap();
        let full = replace_user_file(&path, |file| {
            file.write_all(b"ne")?;
            Err::<(), _>(io::Error::from(io::ErrorKind::StorageFull))
        });
        assert_eq!(full.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old\n");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is left behind");
        let missing = directory.path().join("missing/case.yaml");
        assert_eq!(replace_user_text(&missing, "").unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn mode_and_links_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let directory = tempfile::tempdir().unwrap();
        let (path, link) = (directory.path().join("run.sh"), directory.path().join("link"));
        fs::write(&path, "old").unwrap();
        symlink("run.sh", &link).unwrap();
        for mode in [0o755, 0o600, 0o664] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            replace_user_text(&link, &format!("{mode:o}")).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, mode);
            assert_eq!(fs::read_to_string(&path).unwrap(), format!("{mode:o}"));
            assert!(link.is_symlink());
        }
        replace_user_text(Path::new("/dev/null"), "not a file").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn line_ends_stay_if_they_are_all_alike() {
        for (old, text, written) in [
            ("a\r\nb\r\n", "a\nc\r\n", "a\r\nc\r\n"),
            ("a\r\nb", "c\n", "c\r\n"),
            ("a\nb\r\n", "a\nc\r\n", "a\nc\r\n"),
            ("a\n", "c\r\n", "c\r\n"),
            ("a\r", "c\n", "c\n"),
            ("", "c\n", "c\n"),
        ] {
            assert_eq!(with_line_ends_of(old.as_bytes(), text), written, "{old:?} {text:?}");
        }
    }
}
