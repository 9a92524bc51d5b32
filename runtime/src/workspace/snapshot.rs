//! The state of a workspace's files at a point in time, and the difference of two, as records and graders show it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use std::{fmt, fs, io};

use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::discovery::with_slashes;
use evalsuite_schema::sorting::set;

use crate::model::evidence::WorkspaceChanges;
use crate::platform::digest::{sha256, sha256_of};
use crate::platform::excerpt::first_bytes;
use crate::platform::files::{error_at, mode};
use crate::platform::untrusted::{EntryKind, OpenError, read_to_limit};
use crate::workspace::diff::{quoted, unified};

pub(crate) use crate::platform::untrusted::{TreeEntry, WalkLimits, walk, walk_within};

/// Largest file that is compared as text, in bytes.
const TEXT_LIMIT: u64 = 512 * 1024;

/// The files, directories and symbolic links of a workspace, by path with `/` separators.
///
/// A trial takes one before the agent is called and one after. [`WorkspaceDiff`](WorkspaceDiff)
/// and [`ReplayableChanges`](crate::workspace::replayable_changes::ReplayableChanges) are computed from the two.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    entries: BTreeMap<String, SnapshotEntry>,
    left_out: LeftOut,
}

/// What a snapshot may cost. Beyond it, a snapshot knows less of the files.
#[derive(Debug, Clone)]
struct Budget {
    walk: WalkLimits,
    /// Bytes of texts that are kept.
    texts: u64,
    /// Bytes that are digested.
    digested: u64,
    /// When reading stops.
    end: Instant,
    /// Files whose content is not read, and their size in bytes.
    unread: (usize, u64),
}

impl Budget {
    fn new() -> Self {
        Self {
            walk: WalkLimits { entries: 50_000, ..WalkLimits::default() },
            texts: 32 << 20,
            // Five seconds in a program that is not optimised.
            digested: 64 << 20,
            end: Instant::now() + Duration::from_secs(10),
            unread: (0, 0),
        }
    }

    /// Takes bytes from a part of the budget; `false` if there are not so many, or the time is over.
    fn take(part: &mut u64, bytes: u64, end: Instant) -> bool {
        let left = part.checked_sub(bytes).filter(|_| Instant::now() < end);
        *part = left.unwrap_or(*part);
        left.is_some()
    }
}

/// What a snapshot does not know because of its budget.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Files whose content is not known, and their size in bytes.
    unread: (usize, u64),
    /// Whether there are more entries, or directories that are nested more deeply.
    pub(crate) is_cut: bool,
}

impl LeftOut {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Budget { walk: WalkLimits { entries, depth }, .. } = Budget::new();
        if let (files @ 1.., bytes) = self.unread {
            let (files, are) = (counted(files, "file"), if files == 1 { "is" } else { "are" });
            write!(f, "{files} with {bytes} bytes {are} compared by size and time only")?;
        }
        if self.is_cut {
            let and = if self.unread.0 > 0 { "; " } else { "" };
            write!(f, "{and}only the first {entries} entries and {depth} levels of directories are looked at")?;
        }
        Ok(())
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SnapshotEntry {
    Directory,
    /// A symbolic link and its destination.
    Link(String),
    File(FileState),
}

#[derive(Debug, Clone)]
pub(crate) struct FileState {
    pub(crate) size: u64,
    /// Permission bits, where the system has them.
    pub(crate) mode: Option<u32>,
    modified: Option<SystemTime>,
    content: FileContent,
}

/// What is known of the content of a file.
#[derive(Debug, Clone, PartialEq)]
enum FileContent {
    Text(Arc<str>),
    /// SHA-256 of a binary or large file.
    Digest(String),
    /// Of a large file that the earlier snapshot does not have with this size: it has changed in any case, and what agents
    /// build can be too large to read. Also of files for which the budget does not suffice.
    Unread,
}

impl Snapshot {
    /// The contents of the files that are text.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let files = self.entries.values().filter_map(|entry| match entry {
            SnapshotEntry::File(file) => file.text(),
            SnapshotEntry::Directory | SnapshotEntry::Link(_) => None,
        });
        files.map(|text| &**text)
    }

    /// Takes a snapshot of a directory.
    pub(crate) fn take(directory: &Path) -> io::Result<Self> {
        Self::read(directory, None, Budget::new())
    }

    /// Takes a later snapshot of the same directory, which shares unchanged texts with this one. Large files that this
    /// one does not have with the same size are not read.
    pub(crate) fn take_later(&self, directory: &Path) -> io::Result<Self> {
        Self::read(directory, Some(self), Budget::new())
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = (&String, &SnapshotEntry)> {
        self.entries.iter()
    }

    pub(crate) fn get(&self, path: &str) -> Option<&SnapshotEntry> {
        self.entries.get(path)
    }

    /// The regular file at this path.
    pub(crate) fn file(&self, path: &str) -> Option<&FileState> {
        self.get(path).and_then(SnapshotEntry::as_file)
    }

    pub(crate) fn left_out(&self) -> &LeftOut {
        &self.left_out
    }

    fn read(directory: &Path, earlier: Option<&Self>, mut budget: Budget) -> io::Result<Self> {
        // A link that an agent put in its place leads to something that is not the workspace.
        if !fs::symlink_metadata(directory).map_err(|error| error_at(directory, &error))?.is_dir() {
            return Err(io::Error::other(format!("{} is not a directory any more", directory.display())));
        }
        let mut snapshot = Self::default();
        let mut walk = walk_within(directory, is_ignored, budget.walk);
        for found in walk.by_ref() {
            let entry = found.and_then(|found| {
                let entry =
                    SnapshotEntry::read(&found, earlier, &mut budget).map_err(|error| error_at(&found.path, &error))?;
                Ok((found.name(), entry))
            });
            match entry {
                Ok((path, Some(entry))) => _ = snapshot.entries.insert(path, entry),
                Ok((_, None)) => {}
                // A process that the agent left running may delete or replace files meanwhile.
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
                Err(error) => return Err(error),
            }
        }
        snapshot.left_out = LeftOut { unread: budget.unread, is_cut: walk.is_cut() };
        Ok(snapshot)
    }
}

impl SnapshotEntry {
    /// `None` for sockets, pipes and devices.
    fn read(found: &TreeEntry, earlier: Option<&Snapshot>, budget: &mut Budget) -> io::Result<Option<Self>> {
        Ok(match found.kind {
            EntryKind::Directory => Some(Self::Directory),
            EntryKind::Link => Some(Self::Link(with_slashes(&found.destination()?))),
            EntryKind::File => FileState::read(found, earlier, budget)?.map(Self::File),
            EntryKind::Other => None,
        })
    }

    pub(crate) fn as_file(&self) -> Option<&FileState> {
        if let Self::File(file) = self { Some(file) } else { None }
    }
}

impl FileState {
    /// `None` for what is not a file any more.
    fn read(found: &TreeEntry, earlier: Option<&Snapshot>, budget: &mut Budget) -> io::Result<Option<Self>> {
        let file = match found.open() {
            Ok(file) => file,
            Err(OpenError::NotAFile(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let metadata = file.metadata()?;
        let mut state = Self {
            size: metadata.len(),
            mode: mode(&metadata),
            modified: metadata.modified().ok(),
            content: FileContent::Unread,
        };
        let known = earlier.and_then(|earlier| earlier.file(&found.name()));
        let end = budget.end;
        if state.size <= TEXT_LIMIT {
            if Instant::now() < end
                && let Ok(bytes) = read_to_limit(file, TEXT_LIMIT)
            {
                state.size = bytes.len() as u64;
                state.content = FileContent::of(bytes, known.map(|known| &known.content), budget);
            }
        } else if earlier.is_none() || known.is_some_and(|known| known.size == state.size) {
            if Budget::take(&mut budget.digested, state.size, end) {
                // It may grow while it is read.
                state.content = FileContent::Digest(sha256_of(io::Read::take(file, state.size))?);
            }
        } else {
            return Ok(Some(state));
        }
        if state.content == FileContent::Unread {
            budget.unread.0 += 1;
            budget.unread.1 += state.size;
        }
        Ok(Some(state))
    }

    /// The content of a text file; `None` of binary and large files.
    pub(crate) fn text(&self) -> Option<&Arc<str>> {
        if let FileContent::Text(text) = &self.content { Some(text) } else { None }
    }

    /// Whether the content is the same, whatever the permissions.
    pub(crate) fn has_content_of(&self, other: &Self) -> bool {
        self.size == other.size
            && match (&self.content, &other.content) {
                (FileContent::Unread, _) | (_, FileContent::Unread) => {
                    self.modified.is_some() && self.modified == other.modified
                }
                (content, other) => content == other,
            }
    }
}

impl PartialEq for FileState {
    fn eq(&self, other: &Self) -> bool {
        self.mode == other.mode && self.has_content_of(other)
    }
}

impl FileContent {
    /// The content of a small file, that of the earlier snapshot if it is the same.
    fn of(bytes: Vec<u8>, earlier: Option<&Self>, budget: &mut Budget) -> Self {
        let size = bytes.len() as u64;
        match earlier {
            Some(Self::Text(text)) if text.as_bytes() == bytes => return Self::Text(Arc::clone(text)),
            // Only digests can be compared with digests.
            Some(Self::Digest(digest)) if Budget::take(&mut budget.digested, size, budget.end) => {
                let own = sha256(&bytes);
                if own == *digest {
                    return Self::Digest(own);
                }
            }
            _ => {}
        }
        let bytes = match text(bytes) {
            Ok(text) if Budget::take(&mut budget.texts, size, budget.end) => return Self::Text(text.into()),
            Ok(text) => text.into_bytes(),
            Err(bytes) => bytes,
        };
        match Budget::take(&mut budget.digested, size, budget.end) {
            true => Self::Digest(sha256(&bytes)),
            false => Self::Unread,
        }
    }
}

/// The content of a text file, or the bytes of another one.
pub(crate) fn text(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    if bytes.contains(&0) {
        Err(bytes)
    } else {
        String::from_utf8(bytes).map_err(std::string::FromUtf8Error::into_bytes)
    }
}

/// Bytes of a changed file that are kept in the record.
const SNIPPET: usize = 4 * 1024;

/// The changes of regular files between two snapshots; a change of permissions alone is none.
#[derive(Debug, Default)]
pub(crate) struct WorkspaceDiff {
    pub(crate) files: WorkspaceChanges,
    /// Unified diff of all changed files.
    pub(crate) diff: String,
    /// The beginning of each created or modified text file, by path.
    pub(crate) snippets: BTreeMap<String, String>,
}

impl WorkspaceDiff {
    /// Compares two snapshots of the same directory.
    pub(crate) fn between(before: &Snapshot, after: &Snapshot) -> Self {
        let mut changes = Self::default();
        for path in set(file_paths(before).chain(file_paths(after))) {
            let (old, new) = (before.file(path), after.file(path));
            let files = &mut changes.files;
            let list = match (old, new) {
                (Some(old), Some(new)) if new.has_content_of(old) => continue,
                (Some(_), Some(_)) => &mut files.modified,
                (None, _) => &mut files.created,
                (_, None) => &mut files.deleted,
            };
            list.push(path.clone());
            changes.diff.push_str(&file_diff(path, old, new));
            if let Some(text) = new.and_then(FileState::text) {
                changes.snippets.insert(path.clone(), first_bytes(text, SNIPPET).to_owned());
            }
        }
        changes
    }
}

fn file_paths(snapshot: &Snapshot) -> impl Iterator<Item = &String> {
    snapshot.entries().filter(|(_, entry)| matches!(entry, SnapshotEntry::File(_))).map(|(path, _)| path)
}

/// The change of one file; `None` for a file that does not exist in that snapshot.
fn file_diff(path: &str, old: Option<&FileState>, new: Option<&FileState>) -> String {
    let before = if old.is_some() { format!("a/{path}") } else { "/dev/null".to_owned() };
    let after = if new.is_some() { format!("b/{path}") } else { "/dev/null".to_owned() };
    let text = |file: Option<&'_ FileState>| file.map_or(Some(Arc::from("")), |file| file.text().cloned());
    match (text(old), text(new)) {
        (Some(old), Some(new)) => unified(&before, &after, &old, &new),
        _ => format!("Binary files {} and {} differ\n", quoted(&before), quoted(&after)),
    }
}

/// Directories of generated files, such as installed packages and caches.
pub(crate) const CACHES: [&str; 4] = ["node_modules", "__pycache__", ".agentv", ".evalsuite"];

/// Whether snapshots leave a directory of this name out: git's own files and [`CACHES`].
pub(crate) fn is_ignored(name: &OsStr) -> bool {
    name == ".git" || CACHES.iter().any(|cache| name == *cache)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A directory with these files.
    fn directory(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        directory
    }

    #[test]
    fn a_tree_that_is_too_deep_is_looked_at_as_far_as_the_limit() {
        let directory = directory(&[("file", b"text")]);
        let mut deep = directory.path().to_owned();
        (0..150).for_each(|_| deep.push("d"));
        fs::create_dir_all(deep).unwrap();
        let snapshot = Snapshot::take(directory.path()).unwrap();
        assert_eq!(snapshot.entries().count(), 101);
        let said = "only the first 50000 entries and 100 levels of directories are looked at";
        assert_eq!(snapshot.left_out().to_string(), said);
    }

    #[test]
    fn a_tree_that_is_too_broad_is_looked_at_as_far_as_the_limit() {
        let directory = directory(&[("a", b"a"), ("b", b"b"), ("c/d", b"d")]);
        let take = |entries| {
            let walk = WalkLimits { entries, ..WalkLimits::default() };
            let snapshot = Snapshot::read(directory.path(), None, Budget { walk, ..Budget::new() }).unwrap();
            (snapshot.entries().count(), snapshot.left_out().is_cut)
        };
        assert_eq!((take(3), take(4)), ((3, true), (4, false)));
    }

    #[test]
    fn what_the_budget_does_not_allow_to_read_is_compared_by_size_and_time() {
        let directory = directory(&[("text", b"one"), ("binary", b"\0\x01"), ("kept", b"1")]);
        let poor = || Budget { texts: 0, digested: 0, ..Budget::new() };
        let before = Snapshot::read(directory.path(), None, poor()).unwrap();
        assert_eq!(before.left_out().to_string(), "3 files with 6 bytes are compared by size and time only");
        let later = SystemTime::now() + Duration::from_secs(60);
        for (file, content) in [("text", &b"two"[..]), ("binary", b"\0\x02")] {
            fs::write(directory.path().join(file), content).unwrap();
            fs::File::options().write(true).open(directory.path().join(file)).unwrap().set_modified(later).unwrap();
        }
        for budget in [poor(), Budget::new(), Budget { end: Instant::now(), ..Budget::new() }] {
            let after = Snapshot::read(directory.path(), Some(&before), budget).unwrap();
            let is_same = |file: &str| after.get(file) == before.get(file);
            assert_eq!((is_same("text"), is_same("binary"), is_same("kept")), (false, false, true));
        }
    }

    #[test]
    fn a_text_that_was_digested_is_the_same_text_later() {
        let directory = directory(&[("text", b"one")]);
        let before = Snapshot::read(directory.path(), None, Budget { texts: 0, ..Budget::new() }).unwrap();
        let same = before.take_later(directory.path()).unwrap();
        assert_eq!((same.get("text"), before.left_out().is_empty()), (before.get("text"), true));
        fs::write(directory.path().join("text"), "two").unwrap();
        let changed = before.take_later(directory.path()).unwrap();
        assert_ne!(changed.get("text"), before.get("text"));
        assert_eq!(changed.file("text").and_then(FileState::text).map(|text| &**text), Some("two"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_place_of_the_workspace_is_an_error() {
        let directory = directory(&[("real/file", b"text")]);
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(directory.path().join("real"), &link).unwrap();
        assert!(Snapshot::take(&link).is_err());
    }

    #[test]
    fn created_modified_and_deleted_files_are_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        let write = |path: &str, content: &[u8]| {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        };
        write("same", b"x");
        write("old", b"one\ntwo\n");
        write("gone", b"x\n");
        write("image", b"\0\x01");
        write(".git/HEAD", b"a");
        let before = Snapshot::take(directory.path()).unwrap();
        write("old", b"one\n2\n");
        write("dir/new", b"hello\n");
        write("image", b"\0\x02");
        write(".git/HEAD", b"b");
        fs::remove_file(directory.path().join("gone")).unwrap();
        let after = before.take_later(directory.path()).unwrap();
        let changes = WorkspaceDiff::between(&before, &after);
        assert_eq!(changes.files.created, ["dir/new"]);
        assert_eq!(changes.files.modified, ["image", "old"]);
        assert_eq!(changes.files.deleted, ["gone"]);
        assert_eq!(changes.snippets.get("dir/new").map(String::as_str), Some("hello\n"));
        assert_eq!(
            changes.diff,
            "--- /dev/null\n+++ b/dir/new\n@@ -0,0 +1 @@\n+hello\n\
             --- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
             Binary files a/image and b/image differ\n\
             --- a/old\n+++ b/old\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
        );
    }
}
