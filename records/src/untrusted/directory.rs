//! Reading and writing single files in a directory that programs under test may change, and size limits by name, of which `docs/security.md` has
//! the same table.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use evalsuite_schema::sorting::sort_by;

use super::tree_walk::remove_tree;
use super::{EntryKind, Handle, OpenError};
use crate::file_replacement::temporary_name;

/// The most entries of a directory that are listed.
const MOST_ENTRIES: usize = 1_000_000;

/// A directory below a directory of ours whose content programs under test may change.
#[derive(Debug, Clone)]
pub struct UntrustedDirectory {
    /// A directory that only this process moves or removes.
    root: PathBuf,
    /// Relative to the root; empty for the root itself.
    below: PathBuf,
}

impl UntrustedDirectory {
    /// The directory at `root`, which only this process moves or removes.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        // The parent of a path of one component is empty.
        let root = if root.as_os_str().is_empty() { PathBuf::from(".") } else { root };
        Self { root, below: PathBuf::new() }
    }

    /// A directory in this one. It is made when the first file is written to it.
    pub fn join(&self, path: impl AsRef<Path>) -> Self {
        Self { root: self.root.clone(), below: self.below.join(path) }
    }

    pub fn path(&self) -> PathBuf {
        self.root.join(&self.below)
    }

    /// Opens a regular file. Links are followed as long as they stay below the root.
    ///
    /// # Errors
    ///
    /// If it is something else, leads out of the root, or cannot be opened.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<File, OpenError> {
        let path = self.below.join(path);
        // The components of an absolute path would be those below the root.
        if path.is_absolute() {
            return Err(OpenError::Outside);
        }
        Handle::open(&self.root)?.file_below(&path)
    }

    /// Reads a regular file of at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open); if it is larger.
    pub fn read(&self, path: impl AsRef<Path>, limit: u64) -> Result<Vec<u8>, OpenError> {
        read_to_limit(self.open(path)?, limit)
    }

    /// Opens a regular file of a run, to which no link leads: a run writes none.
    ///
    /// # Errors
    ///
    /// If it is something else, or cannot be opened.
    pub fn open_record(&self, path: impl AsRef<Path>) -> Result<File, OpenError> {
        Handle::open(&self.root)?.file_without_links(&self.below.join(path))
    }

    /// Reads a regular file of a run, up to the limits of its kind. No link leads to it.
    ///
    /// # Errors
    ///
    /// As for [`open_record`](Self::open_record); if it is larger.
    pub fn read_record(&self, path: impl AsRef<Path>) -> Result<Vec<u8>, OpenError> {
        let limits = FileLimits::of(path.as_ref());
        let bytes = read_to_limit(self.open_record(path)?, limits.bytes)?;
        limits.check_values(&bytes)?;
        Ok(bytes)
    }

    /// Names and kinds of what is in it, sorted; nothing if it does not exist. No link leads to it.
    ///
    /// # Errors
    ///
    /// If it is not a directory, or cannot be read.
    pub fn entries(&self) -> io::Result<Vec<(OsString, EntryKind)>> {
        let mut entries = match Handle::open(&self.root)?.directory_below(&self.below) {
            Ok(directory) => directory.entries(MOST_ENTRIES)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(io::Error::new(error.kind(), "it is not a directory"));
            }
            Err(error) => return Err(error),
        };
        sort_by(&mut entries, |(left, _), (right, _)| left.cmp(right));
        Ok(entries)
    }

    /// The names of the directories in it, sorted, as [`entries`](Self::entries).
    ///
    /// # Errors
    ///
    /// As for [`entries`](Self::entries).
    pub fn subdirectories(&self) -> io::Result<Vec<OsString>> {
        let directories = self.entries()?.into_iter().filter(|(_, kind)| *kind == EntryKind::Directory);
        Ok(directories.map(|(name, _)| name).collect())
    }

    /// Opens a regular file that tests of a run share, for reading and writing. It is made, with its directory, if it does not exist.
    ///
    /// # Errors
    ///
    /// If something else has its name, or it cannot be opened.
    pub fn open_shared(&self, name: &OsStr, appends: bool) -> io::Result<File> {
        let path = self.path();
        let directory = match Handle::open(&path) {
            // Only the first file creates the directory.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                std::fs::create_dir_all(&path)?;
                Handle::open(&path)
            }
            result => result,
        };
        let opened = directory.map_err(OpenError::from).and_then(|directory| directory.shared_file(name, appends));
        opened.map_err(|error| match error {
            OpenError::Io(error) => error,
            error => io::Error::new(io::ErrorKind::InvalidData, format!("{}: it {error}", path.join(name).display())),
        })
    }

    /// Writes a file in place of whatever has its name. No link is followed, neither by the file nor by a directory on the way
    /// to it. Not flushed to disk: a crash of the machine may lose it.
    ///
    /// # Errors
    ///
    /// If something that is not a directory is on the way, or the file cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.replace(name, bytes, false)
    }

    /// Writes a file as [`write`](Self::write); `flush` waits until the disk has it.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    pub fn replace(&self, name: &str, bytes: &[u8], flush: bool) -> io::Result<()> {
        let (directory, name) = (self.make()?, OsStr::new(name));
        let temporary = temporary_name(name);
        let created = match directory.create(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                directory.make_writable()?;
                directory.create(&temporary)
            }
            result => result,
        };
        let written = created.and_then(|mut file| {
            file.write_all(bytes)?;
            if flush { file.sync_all() } else { Ok(()) }
        });
        let written = written.and_then(|()| match directory.rename(&temporary, name) {
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
                remove_tree(&directory, name)?;
                directory.rename(&temporary, name)
            }
            result => result,
        });
        if written.is_err() {
            // The first error is the one to report.
            let _ = directory.remove_file(&temporary);
        }
        written
    }

    /// Removes a file, or a link, if it exists.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match self.make()?.remove_file(OsStr::new(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        }
    }

    /// Makes the directory, and opens it.
    ///
    /// # Errors
    ///
    /// If something that is not a directory is on the way.
    pub fn make(&self) -> io::Result<Handle> {
        let mut directory = self.make_root()?;
        for component in self.below.components() {
            let Component::Normal(name) = component else {
                return Err(io::Error::other(format!("{} leads out of {}", self.below.display(), self.root.display())));
            };
            directory = directory.make_directory(name)?;
        }
        Ok(directory)
    }

    /// Opens the root. It is made again if a program has removed it, or put something else in its place.
    fn make_root(&self) -> io::Result<Handle> {
        match Handle::open(&self.root) {
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => std::fs::remove_file(&self.root)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            result => return result,
        }
        std::fs::create_dir_all(&self.root)?;
        Handle::open(&self.root)
    }
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
///
/// If it is larger, or cannot be read.
pub fn read_to_limit(file: File, limit: u64) -> Result<Vec<u8>, OpenError> {
    let size = file.metadata()?.len();
    let mut bytes = Vec::new();
    // It may grow while it is read.
    if size <= limit {
        // One byte more, so that the end is found without growing.
        bytes
            .try_reserve_exact(usize::try_from(size).unwrap_or_default().saturating_add(1))
            .map_err(io::Error::from)?;
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    }
    let size = size.max(bytes.len() as u64);
    if size > limit { Err(OpenError::TooLarge { bytes: size, limit }) } else { Ok(bytes) }
}

/// The most bytes of a file that are read, and the most values of its JSON that are decoded: a value takes up to a few hundred
/// bytes of memory, whatever its length in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimits {
    pub bytes: u64,
    pub values: usize,
}

const MIB: u64 = 1 << 20;

/// The limits of files with these names.
const LIMITS: &[(&str, FileLimits)] = &[
    ("run.json", FileLimits { bytes: 16 * MIB, values: 250_000 }),
    ("suite.json", FileLimits { bytes: 32 * MIB, values: 1_000_000 }),
    ("summary.json", FileLimits { bytes: 64 * MIB, values: 250_000 }),
    ("calibration.json", FileLimits { bytes: 32 * MIB, values: 250_000 }),
    ("case.json", FileLimits { bytes: 16 * MIB, values: 250_000 }),
    ("result.json", FileLimits { bytes: 32 * MIB, values: 250_000 }),
    ("evidence.json", FileLimits { bytes: 64 * MIB, values: 2_000_000 }),
    ("input.json", FileLimits { bytes: 64 * MIB, values: 2_000_000 }),
    ("trajectory.json", FileLimits { bytes: 64 * MIB, values: 2_000_000 }),
    ("spend.jsonl", FileLimits { bytes: 64 * MIB, values: usize::MAX }),
];

/// The limits of all other files.
const OTHERS: FileLimits = FileLimits { bytes: 16 * MIB, values: 250_000 };

impl FileLimits {
    /// Those of a file with the name of this one.
    pub fn of(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default();
        LIMITS.iter().find(|(known, _)| name == *known).map_or(OTHERS, |(_, limits)| *limits)
    }

    /// # Errors
    ///
    /// If JSON has more values than are decoded.
    pub fn check_values(&self, json: &[u8]) -> Result<(), OpenError> {
        // Each value has at least one byte.
        match json.len() > self.values && has_more_values(json, self.values) {
            true => Err(OpenError::TooManyValues { limit: self.values }),
            false => Ok(()),
        }
    }
}

/// Whether JSON has more than so many values: each has a bracket, comma or colon before it, outside of texts.
fn has_more_values(json: &[u8], limit: usize) -> bool {
    let (mut values, mut is_text) = (0_usize, false);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => is_text = !is_text,
            b'\\' if is_text => {
                bytes.next();
            }
            b'[' | b'{' | b',' | b':' if !is_text => {
                values += 1;
                if values > limit {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_go_by_the_name_and_values_are_counted_outside_of_texts() {
        assert_eq!(FileLimits::of(Path::new("a/suite.json")).bytes, 32 * MIB);
        assert_eq!(FileLimits::of(Path::new("session.suite-1.json")), OTHERS);
        let limits = FileLimits { bytes: 0, values: 4 };
        assert!(
            limits.check_values(br#"[1, "[,[\",[,[,[:", {"a": 2}]"#).is_err(),
            "a bracket, two commas, a brace and a colon"
        );
        assert!(limits.check_values(br#"[1, "[,[\",[,[,[:", 2, 3]"#).is_ok());
        assert!(limits.check_values(b"[[[[[[").is_err());
    }

    #[test]
    fn the_limits_are_documented() {
        let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/security.md");
        // A published crate has no documents.
        let Ok(text) = std::fs::read_to_string(document) else { return };
        let shown = |values: usize| if values == usize::MAX { "–".to_owned() } else { grouped(values) };
        let row = |(name, limits): (&str, FileLimits)| {
            format!("| {name} | {} MiB | {} |", limits.bytes / MIB, shown(limits.values))
        };
        let rows = LIMITS.iter().map(|(name, limits)| row((&format!("`{name}`"), *limits)));
        for row in rows.chain([row(("any other file that is decoded", OTHERS))]) {
            assert!(text.contains(&row), "docs/security.md has no row `{row}`");
        }
    }

    fn grouped(value: usize) -> String {
        if value < 1000 { value.to_string() } else { format!("{},{:03}", grouped(value / 1000), value % 1000) }
    }
}
