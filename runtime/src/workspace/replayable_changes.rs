//! The changes of a workspace with file contents, which a replay applies again.

use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use evalsuite_schema::json::{FromJson, FromJsonOverDefault, ToJson};

use crate::platform::files::{error_at, make_symlinks, set_mode};
use crate::platform::untrusted::UntrustedDirectory;
use crate::workspace::copy::{make_directory, remove_entry};
use crate::workspace::snapshot::{Snapshot, SnapshotEntry, text};
use crate::workspace::value_placeholders::Placeholders;

/// Largest total size of the changed files in one recording, in bytes.
pub(crate) const LIMIT: u64 = 16 * 1024 * 1024;

/// The changes between two snapshots, as a cassette stores them.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
pub(crate) struct ReplayableChanges {
    /// Created and modified entries, sorted by path.
    #[json(default)]
    pub(crate) written: Vec<WrittenEntry>,
    /// Deleted paths, sorted.
    #[json(default)]
    pub(crate) deleted: Vec<String>,
    /// Why no contents are stored.
    #[json(default, skip_if = "Option::is_none")]
    pub(crate) left_out: Option<String>,
}

/// A file, directory or link that the agent created or modified.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
pub(crate) struct WrittenEntry {
    /// Relative, with `/` separators.
    path: String,
    /// Permissions in octal, where the system has them.
    #[json(default, skip_if = "Option::is_none")]
    mode: Option<String>,
    content: Content,
}

#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
enum Content {
    Text(String),
    Base64(String),
    /// The destination of a symbolic link.
    Link(String),
    Directory {},
}

impl ReplayableChanges {
    /// Compares two snapshots of a directory and reads the changed files from it.
    pub(crate) fn between(
        before: &Snapshot,
        after: &Snapshot,
        directory: &Path,
        placeholders: &Placeholders,
    ) -> io::Result<Self> {
        let mut changes = Self::default();
        let changed: Vec<_> = after.entries().filter(|(path, entry)| before.get(path) != Some(entry)).collect();
        let size: u64 = changed.iter().filter_map(|(_, entry)| entry.as_file()).map(|file| file.size).sum();
        changes.deleted =
            before.entries().map(|(path, _)| path).filter(|path| after.get(path).is_none()).cloned().collect();
        if after.left_out().is_cut {
            changes.left_out = Some(format!("the workspace is too large to be recorded: {}", after.left_out()));
            return Ok(changes);
        }
        if size > LIMIT {
            changes.left_out =
                Some(format!("the agent wrote {size} bytes to its workspace; at most {LIMIT} are recorded"));
            return Ok(changes);
        }
        let is_lossy = |path: &str| path.contains('\u{fffd}') && directory.join(path).symlink_metadata().is_err();
        if let Some((path, _)) = changed.iter().find(|(path, _)| is_lossy(path)) {
            changes.left_out = Some(format!("the name of `{path}` in the workspace is not Unicode"));
            return Ok(changes);
        }
        for (path, entry) in changed {
            let (mode, content) = match entry {
                SnapshotEntry::Directory => (None, Content::Directory {}),
                SnapshotEntry::Link(destination) => (None, Content::Link(destination.clone())),
                SnapshotEntry::File(file) => {
                    let content = match file.text() {
                        Some(text) => Content::Text(text.to_string()),
                        None => {
                            let bytes = UntrustedDirectory::new(directory).read(path, LIMIT);
                            let bytes = bytes.map_err(|error| error_at(Path::new(path), &error.into()))?;
                            content(bytes, path, placeholders)?
                        }
                    };
                    (file.mode.map(|mode| format!("{mode:o}")), content)
                }
            };
            changes.written.push(WrittenEntry { path: path.clone(), mode, content });
        }
        Ok(changes)
    }

    /// Files with their new texts; those without one are removed.
    #[cfg(feature = "grader-tests")]
    pub(crate) fn of_texts(files: impl IntoIterator<Item = (String, Option<String>)>) -> Self {
        let mut changes = Self::default();
        for (path, text) in files {
            match text {
                Some(text) => changes.written.push(WrittenEntry { path, mode: None, content: Content::Text(text) }),
                None => changes.deleted.push(path),
            }
        }
        changes
    }

    /// Changes whose contents could not be recorded, with the reason.
    pub(crate) fn unrecorded(error: &io::Error) -> Self {
        Self { left_out: Some(error.to_string()), ..Self::default() }
    }

    /// Whether a replay leaves a directory as it is.
    pub(crate) fn are_none(&self) -> bool {
        *self == Self::default()
    }

    /// Makes these changes in a directory.
    pub(crate) fn apply(&self, directory: &Path) -> io::Result<()> {
        // The content of a directory before the directory.
        for path in self.deleted.iter().rev() {
            remove_entry(&path_inside(directory, path)?)?;
        }
        let mut links = Vec::new();
        for written in &self.written {
            let path = path_inside(directory, &written.path)?;
            if matches!(written.content, Content::Directory {}) {
                make_directory(&path)?;
                continue;
            }
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            remove_entry(&path)?;
            match &written.content {
                Content::Directory {} => {}
                Content::Text(text) => fs::write(&path, text)?,
                Content::Base64(text) => {
                    let bytes = BASE64_STANDARD.decode(text).map_err(|_| invalid(&written.path, "is not base64"))?;
                    fs::write(&path, bytes)?;
                }
                Content::Link(destination) => {
                    links.push((path, Path::new(destination)));
                    continue;
                }
            }
            if let Some(mode) = &written.mode {
                let mode = u32::from_str_radix(mode, 8).map_err(|_| invalid(&written.path, "has an invalid mode"))?;
                set_mode(&path, mode)?;
            }
        }
        make_symlinks(links)
    }
}

fn content(bytes: Vec<u8>, path: &str, placeholders: &Placeholders) -> io::Result<Content> {
    match text(bytes) {
        Ok(text) => Ok(Content::Text(text)),
        Err(bytes) => {
            if let Some(name) = placeholders.secret_in(&bytes) {
                return Err(io::Error::other(format!(
                    "the agent wrote the value of {name} to the binary file `{path}`, where it cannot be replaced by its name"
                )));
            }
            Ok(Content::Base64(BASE64_STANDARD.encode(&bytes)))
        }
    }
}

/// The recorded path below `directory`. It may not leave the directory, neither with `..` nor through a link.
fn path_inside(directory: &Path, path: &str) -> io::Result<PathBuf> {
    let mut inside = directory.to_owned();
    let mut components = Path::new(path).components().peekable();
    if components.peek().is_none() {
        return Err(invalid(path, "is empty"));
    }
    while let Some(component) = components.next() {
        let Component::Normal(name) = component else {
            return Err(invalid(path, "leads out of the workspace"));
        };
        inside.push(name);
        if components.peek().is_some() && inside.is_symlink() {
            return Err(invalid(path, "leads through a symbolic link"));
        }
    }
    Ok(inside)
}

fn invalid(path: &str, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the recorded path `{path}` {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    fn write(root: &Path, path: &str, content: &[u8]) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn changes_since(before: &Snapshot, directory: &Path) -> io::Result<ReplayableChanges> {
        ReplayableChanges::between(before, &before.take_later(directory)?, directory, &Placeholders::default())
    }

    #[cfg(unix)]
    fn template() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "same", b"x");
        write(root.path(), "old", b"one\n");
        write(root.path(), "gone/deep/file", b"x");
        write(root.path(), "was-a-file", b"x");
        write(root.path(), ".git/HEAD", b"a");
        root
    }

    #[cfg(unix)]
    #[test]
    fn all_changes_of_an_agent_can_be_made_again() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let here = template();
        let before = Snapshot::take(here.path()).unwrap();
        write(here.path(), "old", b"two\n");
        write(here.path(), "new/image", b"\0\xff\x01");
        write(here.path(), "run.sh", b"#!/bin/sh\n");
        fs::set_permissions(here.path().join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir_all(here.path().join("empty")).unwrap();
        fs::remove_dir_all(here.path().join("gone")).unwrap();
        fs::remove_file(here.path().join("was-a-file")).unwrap();
        write(here.path(), "was-a-file/now-in-a-directory", b"y");
        symlink("old", here.path().join("link")).unwrap();
        write(here.path(), ".git/HEAD", b"b");

        let changes = changes_since(&before, here.path()).unwrap();
        let text = serde_json::to_string(&changes).unwrap();
        let changes: ReplayableChanges = evalsuite_schema::json::from_str(&text).unwrap();
        let there = template();
        changes.apply(there.path()).unwrap();
        let (here, there) = (here.path(), there.path());
        let shape = |root: &Path| -> Vec<(String, Option<u32>, Option<String>)> {
            let shape = |(path, entry): (&String, &SnapshotEntry)| match entry {
                SnapshotEntry::Directory => (path.clone(), None, None),
                SnapshotEntry::Link(destination) => (path.clone(), None, Some(destination.clone())),
                SnapshotEntry::File(file) => (path.clone(), file.mode, file.text().map(ToString::to_string)),
            };
            Snapshot::take(root).unwrap().entries().map(shape).collect()
        };
        assert_eq!(shape(here), shape(there));
        assert!(changes_since(&before, there).unwrap().deleted.contains(&"gone/deep/file".into()));
        assert_eq!(fs::read(there.join(".git/HEAD")).unwrap(), b"a", "`.git` is not recorded");
    }

    #[test]
    fn contents_above_the_limit_are_left_out_with_the_reason() {
        let here = tempfile::tempdir().unwrap();
        let before = Snapshot::take(here.path()).unwrap();
        fs::File::create(here.path().join("large")).unwrap().set_len(LIMIT + 1).unwrap();
        let changes = changes_since(&before, here.path()).unwrap();
        assert!(changes.written.is_empty());
        assert!(changes.left_out.unwrap().contains("16777217 bytes"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_name_that_is_not_unicode_is_not_recorded_as_another_one() {
        use std::os::unix::ffi::OsStrExt;
        let here = tempfile::tempdir().unwrap();
        let before = Snapshot::take(here.path()).unwrap();
        write(here.path(), "\u{fffd}", b"x");
        assert_eq!(changes_since(&before, here.path()).unwrap().written.len(), 1);
        fs::write(here.path().join(std::ffi::OsStr::from_bytes(b"a\xff")), "x").unwrap();
        let changes = changes_since(&before, here.path()).unwrap();
        assert!(changes.written.is_empty() && changes.left_out.unwrap().contains("is not Unicode"));
    }

    #[test]
    fn a_recording_cannot_write_outside_the_workspace() {
        let root = tempfile::tempdir().unwrap();
        let file = |path: &str| ReplayableChanges {
            written: vec![WrittenEntry { path: path.into(), mode: None, content: Content::Text("x".into()) }],
            ..ReplayableChanges::default()
        };
        for path in ["../x", "/tmp/x", "a/../../x", ""] {
            assert!(file(path).apply(root.path()).is_err(), "{path}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/tmp", root.path().join("link")).unwrap();
            assert!(file("link/x").apply(root.path()).unwrap_err().to_string().contains("through a symbolic link"));
        }
    }
}
