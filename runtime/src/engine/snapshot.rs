//! What an agent changed in its workspace.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::Path,
};

use similar::TextDiff;

use crate::{digest::sha256, evidence::WorkspaceChanges, excerpt::first_bytes};

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
        let mut files = BTreeMap::new();
        walk(directory, "", &mut files)?;
        Ok(Self(files))
    }

    pub(crate) fn changes(&self, after: &Self) -> Changes {
        let mut changes = Changes::default();
        let paths: BTreeSet<&String> = self.0.keys().chain(after.0.keys()).collect();
        for path in paths {
            match (self.0.get(path), after.0.get(path)) {
                (None, Some(new)) => {
                    changes.files.created.push(path.clone());
                    changes.snippet(path, new);
                    changes.diff.push_str(&diff(path, None, Some(new)));
                }
                (Some(old), Some(new)) if old.digest != new.digest => {
                    changes.files.modified.push(path.clone());
                    changes.snippet(path, new);
                    changes.diff.push_str(&diff(path, Some(old), Some(new)));
                }
                (Some(old), None) => {
                    changes.files.deleted.push(path.clone());
                    changes.diff.push_str(&diff(path, Some(old), None));
                }
                _ => {}
            }
        }
        changes
    }
}

impl Changes {
    fn snippet(&mut self, path: &str, entry: &Entry) {
        if let Some(text) = &entry.text {
            self.snippets.insert(path.to_owned(), first_bytes(text, SNIPPET).to_owned());
        }
    }
}

fn walk(directory: &Path, prefix: &str, files: &mut BTreeMap<String, Entry>) -> io::Result<()> {
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
            let bytes = fs::read(entry.path())?;
            let digest = sha256(&bytes);
            let is_text = bytes.len() as u64 <= TEXT_LIMIT && !bytes.contains(&0);
            let text = is_text.then(|| String::from_utf8(bytes).ok()).flatten();
            files.insert(path, Entry { digest, text });
        }
    }
    Ok(())
}

fn diff(path: &str, old: Option<&Entry>, new: Option<&Entry>) -> String {
    let text = |entry: Option<&Entry>| match entry {
        None => Some(String::new()),
        Some(entry) => entry.text.clone(),
    };
    let before = if old.is_some() { format!("a/{path}") } else { "/dev/null".to_owned() };
    let after = if new.is_some() { format!("b/{path}") } else { "/dev/null".to_owned() };
    match (text(old), text(new)) {
        (Some(old), Some(new)) => {
            TextDiff::from_lines(&old, &new).unified_diff().context_radius(3).header(&before, &after).to_string()
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
        let changes = before.changes(&Snapshot::take(directory.path()).unwrap());
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
