//! What an agent left in its workspace, with contents, so that it can be laid there again.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
    path::{Component, Path, PathBuf},
    time::{Duration, SystemTime},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};

use crate::{
    platform::digest::sha256_of,
    workspace::{path_placeholders::Placeholders, snapshot::IGNORED},
};

/// Most bytes of changed files in one recording.
pub(crate) const LIMIT: u64 = 16 * 1024 * 1024;

/// What is in a directory, by path with `/` separators.
#[derive(Debug, Default)]
pub(crate) struct Tree(BTreeMap<String, Node>);

#[derive(Debug, PartialEq)]
enum Node {
    Directory,
    File(Stamp),
    Link(String),
}

/// What tells whether a file is as it was, without reading all of them.
#[derive(Debug, PartialEq)]
struct Stamp {
    size: u64,
    mode: Option<u32>,
    modified: Option<SystemTime>,
    /// Only of a file that could change again without another time.
    digest: Option<String>,
}

/// Clocks of file systems tick every few milliseconds, those that know no parts of a second every two seconds.
const TICK: Duration = Duration::from_secs(2);

/// What lies between two states of a directory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Changes {
    /// What is new or another, sorted by path.
    #[serde(default)]
    pub(crate) written: Vec<Written>,
    /// What is gone, sorted.
    #[serde(default)]
    pub(crate) deleted: Vec<String>,
    /// Why the contents are not here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) left_out: Option<String>,
}

/// Something an agent wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Written {
    /// Relative, with `/` separators.
    path: String,
    /// Permissions in octal, where the system has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
    content: Content,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Content {
    Text(String),
    Base64(String),
    /// A symbolic link and where it leads.
    Link(String),
    /// A directory.
    Directory {},
}

impl Tree {
    /// # Errors
    ///
    /// If something cannot be read.
    pub(crate) fn take(directory: &Path) -> io::Result<Self> {
        let mut tree = Self::default();
        if !fs::symlink_metadata(directory)?.is_dir() {
            return Err(io::Error::other(format!("{} is no directory any more", directory.display())));
        }
        walk(directory, "", &mut tree.0)?;
        Ok(tree)
    }

    /// What has changed in the directory since then.
    ///
    /// # Errors
    ///
    /// If something cannot be read, or a binary file holds a secret.
    pub(crate) fn changes(&self, directory: &Path, placeholders: &Placeholders) -> io::Result<Changes> {
        let now = Self::take(directory)?;
        let mut changes = Changes::default();
        let mut changed = Vec::new();
        for (path, node) in &now.0 {
            if !is_same(self.0.get(path), node, &directory.join(path))? {
                changed.push((path, node));
            }
        }
        let size: u64 = changed
            .iter()
            .map(|(_, node)| match node {
                Node::File(stamp) => stamp.size,
                Node::Directory | Node::Link(_) => 0,
            })
            .sum();
        changes.deleted = self.0.keys().filter(|path| !now.0.contains_key(*path)).cloned().collect();
        if size > LIMIT {
            changes.left_out =
                Some(format!("the agent wrote {size} bytes into its workspace, more than the {LIMIT} that are kept"));
            return Ok(changes);
        }
        for (path, node) in changed {
            let (mode, content) = match node {
                Node::Directory => (None, Content::Directory {}),
                Node::Link(destination) => (None, Content::Link(destination.clone())),
                Node::File(stamp) => {
                    let content = content(fs::read(directory.join(path))?, path, placeholders)?;
                    (stamp.mode.map(|mode| format!("{mode:o}")), content)
                }
            };
            changes.written.push(Written { path: path.clone(), mode, content });
        }
        Ok(changes)
    }
}

impl Stamp {
    fn of(file: &Path, metadata: &fs::Metadata) -> io::Result<Self> {
        let modified = metadata.modified().ok();
        let is_settled = modified.is_some_and(|time| time.elapsed().is_ok_and(|age| age > TICK));
        let digest = if is_settled { None } else { Some(sha256_of(File::open(file)?)?) };
        Ok(Self { size: metadata.len(), mode: mode(metadata), modified, digest })
    }
}

fn is_same(old: Option<&Node>, new: &Node, file: &Path) -> io::Result<bool> {
    let (Some(Node::File(old)), Node::File(new)) = (old, new) else { return Ok(old == Some(new)) };
    if old.size != new.size || old.mode != new.mode {
        return Ok(false);
    }
    match (&old.digest, &new.digest) {
        (None, _) => Ok(old.modified.is_some() && old.modified == new.modified),
        (Some(old), Some(new)) => Ok(old == new),
        (Some(old), None) => Ok(*old == sha256_of(File::open(file)?)?),
    }
}

fn content(bytes: Vec<u8>, path: &str, placeholders: &Placeholders) -> io::Result<Content> {
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(Content::Text(text)),
        other => {
            let bytes = other.map_or_else(std::string::FromUtf8Error::into_bytes, String::into_bytes);
            if let Some(name) = placeholders.secret_in(&bytes) {
                return Err(io::Error::other(format!(
                    "the agent wrote the value of {name} into the binary file `{path}`, where it cannot be hidden"
                )));
            }
            Ok(Content::Base64(BASE64_STANDARD.encode(&bytes)))
        }
    }
}

fn walk(directory: &Path, prefix: &str, nodes: &mut BTreeMap<String, Node>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let path = format!("{prefix}{}", name.to_string_lossy());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if !IGNORED.iter().any(|ignored| name == *ignored) {
                walk(&entry.path(), &format!("{path}/"), nodes)?;
                nodes.insert(path, Node::Directory);
            }
        } else if kind.is_symlink() {
            nodes.insert(path, Node::Link(fs::read_link(entry.path())?.to_string_lossy().into_owned()));
        } else if kind.is_file() {
            nodes.insert(path, Node::File(Stamp::of(&entry.path(), &entry.metadata()?)?));
        }
    }
    Ok(())
}

impl Changes {
    /// Makes them in a directory.
    ///
    /// # Errors
    ///
    /// If a path leads out of the directory, or something cannot be written.
    pub(crate) fn apply(&self, directory: &Path) -> io::Result<()> {
        // What lies deeper goes first.
        for path in self.deleted.iter().rev() {
            remove(&place(directory, path)?)?;
        }
        for written in &self.written {
            let path = place(directory, &written.path)?;
            if matches!(written.content, Content::Directory {}) {
                if !path.is_dir() {
                    remove(&path)?;
                    fs::create_dir_all(&path)?;
                }
                continue;
            }
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            remove(&path)?;
            match &written.content {
                Content::Directory {} => {}
                Content::Text(text) => fs::write(&path, text)?,
                Content::Base64(text) => {
                    let bytes = BASE64_STANDARD.decode(text).map_err(|_| invalid(&written.path, "is not base64"))?;
                    fs::write(&path, bytes)?;
                }
                Content::Link(destination) => link(destination, &path)?,
            }
            if let (Some(mode), false) = (&written.mode, matches!(written.content, Content::Link(_))) {
                let mode = u32::from_str_radix(mode, 8).map_err(|_| invalid(&written.path, "has no such mode"))?;
                set_mode(&path, mode)?;
            }
        }
        Ok(())
    }
}

/// Where a recorded path lies; it may neither leave the directory by itself nor through a link.
fn place(directory: &Path, path: &str) -> io::Result<PathBuf> {
    let mut place = directory.to_owned();
    let mut components = Path::new(path).components().peekable();
    if components.peek().is_none() {
        return Err(invalid(path, "names nothing"));
    }
    while let Some(component) = components.next() {
        let Component::Normal(name) = component else {
            return Err(invalid(path, "leads out of the workspace"));
        };
        place.push(name);
        if components.peek().is_some() && place.is_symlink() {
            return Err(invalid(path, "lies behind a link"));
        }
    }
    Ok(place)
}

fn invalid(path: &str, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the recorded path `{path}` {what}"))
}

fn remove(path: &Path) -> io::Result<()> {
    let result = match fs::symlink_metadata(path) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

#[cfg(unix)]
fn mode(metadata: &fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(metadata.permissions().mode() & 0o777)
}

#[cfg(not(unix))]
fn mode(_: &fs::Metadata) -> Option<u32> {
    None
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o777))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn link(destination: &str, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(destination, path)
}

#[cfg(windows)]
fn link(destination: &str, path: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(destination, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, content: &[u8]) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

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
    fn everything_an_agent_did_is_done_again() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let here = template();
        let before = Tree::take(here.path()).unwrap();
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

        let changes = before.changes(here.path(), &Placeholders::default()).unwrap();
        let text = serde_json::to_string(&changes).unwrap();
        let changes: Changes = serde_json::from_str(&text).unwrap();
        let there = template();
        changes.apply(there.path()).unwrap();
        let (here, there) = (here.path(), there.path());
        let shape = |root: &Path| -> Vec<(String, Option<u32>, Option<String>)> {
            let Tree(nodes) = Tree::take(root).unwrap();
            let node = |(path, node)| match node {
                Node::Directory => (path, None, None),
                Node::Link(destination) => (path, None, Some(destination)),
                Node::File(stamp) => (path, stamp.mode, stamp.digest),
            };
            nodes.into_iter().map(node).collect()
        };
        assert_eq!(shape(here), shape(there));
        assert!(before.changes(there, &Placeholders::default()).unwrap().deleted.contains(&"gone/deep/file".into()));
        assert_eq!(fs::read(there.join(".git/HEAD")).unwrap(), b"a", "what git keeps is not recorded");
    }

    #[test]
    fn too_much_is_left_out_with_the_reason() {
        let here = tempfile::tempdir().unwrap();
        let before = Tree::take(here.path()).unwrap();
        File::create(here.path().join("large")).unwrap().set_len(LIMIT + 1).unwrap();
        let changes = before.changes(here.path(), &Placeholders::default()).unwrap();
        assert!(changes.written.is_empty());
        assert!(changes.left_out.unwrap().contains("16777217 bytes"));
    }

    #[test]
    fn a_recording_cannot_write_elsewhere() {
        let root = tempfile::tempdir().unwrap();
        let file = |path: &str| Changes {
            written: vec![Written { path: path.into(), mode: None, content: Content::Text("x".into()) }],
            ..Changes::default()
        };
        for path in ["../x", "/tmp/x", "a/../../x", ""] {
            assert!(file(path).apply(root.path()).is_err(), "{path}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/tmp", root.path().join("link")).unwrap();
            assert!(file("link/x").apply(root.path()).unwrap_err().to_string().contains("behind a link"));
        }
    }
}
