//! What an agent changed in its workspace.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use crate::{
    model::evidence::WorkspaceChanges,
    platform::{
        digest::{sha256, sha256_of},
        excerpt::first_bytes,
    },
};

/// Directories that are not looked into.
pub(crate) const IGNORED: [&str; 5] = [".git", "node_modules", "__pycache__", ".agentv", ".evalsuite"];
/// Largest text whose changes are shown line by line, in bytes.
const TEXT_LIMIT: u64 = 512 * 1024;
/// Bytes of a changed file that are kept in the record.
const SNIPPET: usize = 4 * 1024;

/// The regular files of a directory, by path with `/` separators.
#[derive(Debug, Default)]
pub(crate) struct Snapshot(BTreeMap<String, Entry>);

#[derive(Debug)]
struct Entry {
    size: u64,
    digest: String,
    /// `None` for binary and large files.
    text: Option<String>,
}

/// What lies between two snapshots.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) files: WorkspaceChanges,
    pub(crate) diff: String,
    pub(crate) snippets: BTreeMap<String, String>,
}

impl Snapshot {
    /// # Errors
    ///
    /// The file that cannot be read, and why.
    pub(crate) fn take(directory: &Path) -> Result<Self, String> {
        let mut entries = BTreeMap::new();
        for (path, file) in files(directory)? {
            if let Some(entry) = still_there(&file, Entry::read(&file))? {
                entries.insert(path, entry);
            }
        }
        Ok(Self(entries))
    }

    /// What has changed in the directory since the snapshot.
    ///
    /// # Errors
    ///
    /// The file that cannot be read, and why.
    pub(crate) fn changes(&self, directory: &Path) -> Result<Changes, String> {
        let mut now = BTreeMap::new();
        for (path, file) in files(directory)? {
            let change = Change::since(self.0.get(&path), &file);
            if let Some(change) = still_there(&file, change)? {
                now.insert(path, change);
            }
        }
        let mut changes = Changes::default();
        let paths: BTreeSet<&String> = self.0.keys().chain(now.keys()).collect();
        for path in paths {
            let old = self.0.get(path).map(|old| old.text.as_deref());
            match now.get(path) {
                Some(Change::Same) => {}
                None => {
                    changes.files.deleted.push(path.clone());
                    changes.diff.push_str(&diff(path, old, None));
                }
                Some(Change::Content(text)) => {
                    let list = if old.is_some() { &mut changes.files.modified } else { &mut changes.files.created };
                    list.push(path.clone());
                    changes.diff.push_str(&diff(path, old, Some(text.as_deref())));
                    if let Some(text) = text {
                        changes.snippets.insert(path.clone(), first_bytes(text, SNIPPET).to_owned());
                    }
                }
            }
        }
        Ok(changes)
    }
}

impl Entry {
    fn read(file: &Path) -> io::Result<Self> {
        let size = file.metadata()?.len();
        if size > TEXT_LIMIT {
            return Ok(Self { size, digest: sha256_of(File::open(file)?)?, text: None });
        }
        let bytes = fs::read(file)?;
        Ok(Self { size: bytes.len() as u64, digest: sha256(&bytes), text: text(bytes) })
    }
}

/// A file beside the same file in a snapshot.
enum Change {
    Same,
    /// Another content, or a new file; `None` for a binary or large one.
    Content(Option<String>),
}

impl Change {
    fn since(old: Option<&Entry>, file: &Path) -> io::Result<Self> {
        let size = file.metadata()?.len();
        if size > TEXT_LIMIT {
            // Only a file of the same size can be the same; what agents build can be large and need not be read.
            let same = match old {
                Some(old) if old.size == size => old.digest == sha256_of(File::open(file)?)?,
                _ => false,
            };
            return Ok(if same { Self::Same } else { Self::Content(None) });
        }
        let bytes = fs::read(file)?;
        let same = old.is_some_and(|old| old.size == bytes.len() as u64 && old.digest == sha256(&bytes));
        Ok(if same { Self::Same } else { Self::Content(text(bytes)) })
    }
}

/// Something an agent left running may delete a file while it is looked at: then it is not there.
fn still_there<T>(file: &Path, result: io::Result<T>) -> Result<Option<T>, String> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", file.display())),
    }
}

/// Regular files by path; links and special files are not followed.
fn files(directory: &Path) -> Result<BTreeMap<String, PathBuf>, String> {
    let mut files = BTreeMap::new();
    let metadata = fs::symlink_metadata(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    // Whatever a link in its place leads to is no workspace.
    if !metadata.is_dir() {
        return Err(format!("{} is no directory any more", directory.display()));
    }
    walk(directory, "", &mut files)?;
    Ok(files)
}

fn walk(directory: &Path, prefix: &str, files: &mut BTreeMap<String, PathBuf>) -> Result<(), String> {
    let Some(entries) = still_there(directory, fs::read_dir(directory))? else { return Ok(()) };
    for entry in entries {
        let found = entry.and_then(|entry| Ok((entry.file_type()?, entry)));
        let Some((kind, entry)) = still_there(directory, found)? else { continue };
        let name = entry.file_name();
        let path = format!("{prefix}{}", name.to_string_lossy());
        if kind.is_dir() {
            if !IGNORED.iter().any(|ignored| name == *ignored) {
                walk(&entry.path(), &format!("{path}/"), files)?;
            }
        } else if kind.is_file() {
            files.insert(path, entry.path());
        }
    }
    Ok(())
}

/// The content of a file that is text.
fn text(bytes: Vec<u8>) -> Option<String> {
    if bytes.contains(&0) { None } else { String::from_utf8(bytes).ok() }
}

/// The change of one file. The outer `None` is a file that is not there, the inner one a file that is no text.
fn diff(path: &str, old: Option<Option<&str>>, new: Option<Option<&str>>) -> String {
    let before = if old.is_some() { format!("a/{path}") } else { "/dev/null".to_owned() };
    let after = if new.is_some() { format!("b/{path}") } else { "/dev/null".to_owned() };
    match (old.unwrap_or(Some("")), new.unwrap_or(Some(""))) {
        (Some(old), Some(new)) => crate::workspace::diff::unified(&before, &after, old, new),
        _ => format!(
            "Binary files {} and {} differ\n",
            crate::workspace::diff::quoted(&before),
            crate::workspace::diff::quoted(&after)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let changes = before.changes(directory.path()).unwrap();
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
