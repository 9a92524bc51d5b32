//! What an agent changed in its workspace.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use similar::TextDiff;

use crate::{digest::sha256_of, evidence::WorkspaceChanges, excerpt::first_bytes};

/// Directories that are not looked into.
const IGNORED: [&str; 5] = [".git", "node_modules", "__pycache__", ".agentv", ".evalsuite"];
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
    /// If a file cannot be read.
    pub(crate) fn take(directory: &Path) -> io::Result<Self> {
        let mut entries = BTreeMap::new();
        for (path, file) in files(directory)? {
            let size = file.metadata()?.len();
            entries.insert(path, Entry { size, digest: digest(&file)?, text: text(&file, size)? });
        }
        Ok(Self(entries))
    }

    /// What has changed in the directory since the snapshot.
    ///
    /// # Errors
    ///
    /// If a file cannot be read.
    pub(crate) fn changes(&self, directory: &Path) -> io::Result<Changes> {
        let now = files(directory)?;
        let mut changes = Changes::default();
        let paths: BTreeSet<&String> = self.0.keys().chain(now.keys()).collect();
        for path in paths {
            let old = self.0.get(path);
            let Some(file) = now.get(path) else {
                changes.files.deleted.push(path.clone());
                changes.diff.push_str(&diff(path, old.map(|old| old.text.as_deref()), None));
                continue;
            };
            let size = file.metadata()?.len();
            // Only a file of the same size can be the same; what agents build can be large and need not be read.
            if let Some(old) = old
                && old.size == size
                && old.digest == digest(file)?
            {
                continue;
            }
            let text = text(file, size)?;
            let list = if old.is_some() { &mut changes.files.modified } else { &mut changes.files.created };
            list.push(path.clone());
            changes.diff.push_str(&diff(path, old.map(|old| old.text.as_deref()), Some(text.as_deref())));
            if let Some(text) = text {
                changes.snippets.insert(path.clone(), first_bytes(&text, SNIPPET).to_owned());
            }
        }
        Ok(changes)
    }
}

/// Regular files by path; links and special files are not followed.
fn files(directory: &Path) -> io::Result<BTreeMap<String, PathBuf>> {
    let mut files = BTreeMap::new();
    walk(directory, "", &mut files)?;
    Ok(files)
}

fn walk(directory: &Path, prefix: &str, files: &mut BTreeMap<String, PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let path = format!("{prefix}{}", name.to_string_lossy());
        let kind = entry.file_type()?;
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

fn digest(file: &Path) -> io::Result<String> {
    sha256_of(File::open(file)?)
}

fn text(file: &Path, size: u64) -> io::Result<Option<String>> {
    if size > TEXT_LIMIT {
        return Ok(None);
    }
    let bytes = fs::read(file)?;
    let is_text = !bytes.contains(&0);
    Ok(is_text.then(|| String::from_utf8(bytes).ok()).flatten())
}

/// The change of one file. The outer `None` is a file that is not there, the inner one a file that is no text.
fn diff(path: &str, old: Option<Option<&str>>, new: Option<Option<&str>>) -> String {
    let before = if old.is_some() { format!("a/{path}") } else { "/dev/null".to_owned() };
    let after = if new.is_some() { format!("b/{path}") } else { "/dev/null".to_owned() };
    match (old.unwrap_or(Some("")), new.unwrap_or(Some(""))) {
        (Some(old), Some(new)) => {
            TextDiff::from_lines(old, new).unified_diff().context_radius(3).header(&before, &after).to_string()
        }
        _ => format!("Binary files {before} and {after} differ\n"),
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
