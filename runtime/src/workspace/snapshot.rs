//! The state of a workspace's files at one moment.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;
use std::{fs, io};

use crate::platform::digest::{sha256, sha256_of};
use crate::platform::files::error_at;
use crate::platform::permissions::mode;
use crate::workspace::tree_walk::{TreeEntry, is_ignored, walk};

/// Largest file that is compared as text, in bytes.
const TEXT_LIMIT: u64 = 512 * 1024;

/// The files, directories and symbolic links of a workspace, by path with `/` separators.
///
/// A trial takes one before the agent is called and one after. [`WorkspaceDiff`](crate::workspace::workspace_diff::WorkspaceDiff)
/// and [`ReplayableChanges`](crate::workspace::replayable_changes::ReplayableChanges) are computed from the two.
#[derive(Debug, Default)]
pub(crate) struct Snapshot(BTreeMap<String, SnapshotEntry>);

#[derive(Debug, PartialEq)]
pub(crate) enum SnapshotEntry {
    Directory,
    /// A symbolic link and its destination.
    Link(String),
    File(FileState),
}

#[derive(Debug)]
pub(crate) struct FileState {
    pub(crate) size: u64,
    /// Permission bits, where the system has them.
    pub(crate) mode: Option<u32>,
    modified: Option<SystemTime>,
    /// SHA-256. `None` for a large file that the earlier snapshot does not have with this size: it has changed in any
    /// case, and what agents build can be too large to read.
    digest: Option<String>,
    /// `None` for binary and large files.
    pub(crate) text: Option<Arc<str>>,
}

impl Snapshot {
    /// Takes a snapshot of a directory.
    ///
    /// # Errors
    ///
    /// If something cannot be read. The message names it. A file that is deleted meanwhile is no error.
    pub(crate) fn take(directory: &Path) -> io::Result<Self> {
        Self::read(directory, None)
    }

    /// Takes a later snapshot of the same directory, which shares unchanged texts with this one. Large files that this
    /// one does not have with the same size are not read.
    ///
    /// # Errors
    ///
    /// As for [`take`](Self::take).
    pub(crate) fn take_later(&self, directory: &Path) -> io::Result<Self> {
        Self::read(directory, Some(self))
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = (&String, &SnapshotEntry)> {
        self.0.iter()
    }

    pub(crate) fn get(&self, path: &str) -> Option<&SnapshotEntry> {
        self.0.get(path)
    }

    /// The regular file at this path.
    pub(crate) fn file(&self, path: &str) -> Option<&FileState> {
        self.get(path).and_then(SnapshotEntry::as_file)
    }

    fn read(directory: &Path, earlier: Option<&Self>) -> io::Result<Self> {
        let metadata = fs::symlink_metadata(directory).map_err(|error| error_at(directory, &error))?;
        // A link that an agent put in its place leads to something that is not the workspace.
        if !metadata.is_dir() {
            return Err(io::Error::other(format!("{} is not a directory any more", directory.display())));
        }
        let mut entries = BTreeMap::new();
        for found in walk(directory, is_ignored) {
            let entry = found.and_then(|found| {
                let entry = SnapshotEntry::read(&found, earlier).map_err(|error| error_at(&found.path, &error))?;
                Ok((found.name(), entry))
            });
            match entry {
                Ok((path, Some(entry))) => _ = entries.insert(path, entry),
                Ok((_, None)) => {}
                // A process that the agent left running may delete files meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self(entries))
    }
}

impl SnapshotEntry {
    /// `None` for sockets, pipes and devices.
    fn read(found: &TreeEntry, earlier: Option<&Snapshot>) -> io::Result<Option<Self>> {
        Ok(if found.file_type.is_dir() {
            Some(Self::Directory)
        } else if found.file_type.is_symlink() {
            Some(Self::Link(fs::read_link(&found.path)?.to_string_lossy().into_owned()))
        } else if found.file_type.is_file() {
            Some(Self::File(FileState::read(found, earlier)?))
        } else {
            None
        })
    }

    pub(crate) fn as_file(&self) -> Option<&FileState> {
        if let Self::File(file) = self { Some(file) } else { None }
    }
}

impl FileState {
    fn read(found: &TreeEntry, earlier: Option<&Snapshot>) -> io::Result<Self> {
        let known = earlier.and_then(|earlier| earlier.file(&found.name()));
        let metadata = fs::symlink_metadata(&found.path)?;
        let (size, modified) = (metadata.len(), metadata.modified().ok());
        let mut state = Self { size, mode: mode(&metadata), modified, digest: None, text: None };
        if size <= TEXT_LIMIT {
            let bytes = fs::read(&found.path)?;
            state.size = bytes.len() as u64;
            state.digest = Some(sha256(&bytes));
            state.text = match known {
                Some(known) if known.digest == state.digest => known.text.clone(),
                _ => text(bytes).map(Arc::from),
            };
        } else if earlier.is_none() || known.is_some_and(|known| known.size == size) {
            state.digest = Some(sha256_of(File::open(&found.path)?)?);
        }
        Ok(state)
    }

    /// Whether the content is the same, whatever the permissions.
    pub(crate) fn has_content_of(&self, other: &Self) -> bool {
        self.size == other.size
            && match (&self.digest, &other.digest) {
                (Some(digest), Some(other)) => digest == other,
                _ => self.modified.is_some() && self.modified == other.modified,
            }
    }
}

impl PartialEq for FileState {
    fn eq(&self, other: &Self) -> bool {
        self.mode == other.mode && self.has_content_of(other)
    }
}

/// The content of a text file.
fn text(bytes: Vec<u8>) -> Option<String> {
    if bytes.contains(&0) { None } else { String::from_utf8(bytes).ok() }
}
