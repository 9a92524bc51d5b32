//! The difference of two snapshots, as records and graders show it.

use std::collections::BTreeMap;
use std::sync::Arc;

use evalsuite_schema::sorting::set;

use crate::model::evidence::WorkspaceChanges;
use crate::platform::excerpt::first_bytes;
use crate::workspace::diff::{quoted, unified};
use crate::workspace::snapshot::{FileState, Snapshot, SnapshotEntry};

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

#[cfg(test)]
mod tests {
    use std::fs;

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
