//! Files of the user, which may exist: they are replaced as a whole, and keep their mode, their owner, their line ends, and links to them.

use std::borrow::Cow;
use std::fs::{File, Metadata, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::{fs, io};

use crate::file_replacement::replace_with;

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
    use super::*;

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
