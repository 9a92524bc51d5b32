//! What is below a directory, read once for all who look for something there.

use std::ffi::OsString;
use std::fs::{self, FileType};
use std::path::{Component, Path};

use crate::parts::{ENTRIES_PER_THREAD, in_parts, processors};

/// The entries of a directory, and of all directories below it. Links are not followed, and what cannot be read is left out.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// In the order of their names.
    pub(crate) entries: Vec<TreeEntry>,
}

#[derive(Debug, Clone)]
pub(crate) struct TreeEntry {
    pub(crate) name: OsString,
    pub(crate) kind: FileType,
    /// Empty unless this is a directory.
    pub(crate) below: Tree,
}

impl Tree {
    /// Reads a directory, on all processors if it is large.
    pub fn read(directory: &Path) -> Self {
        let Ok(entries) = fs::read_dir(directory) else { return Self::default() };
        let mut here: Vec<(OsString, FileType)> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                Some((entry.file_name(), entry.file_type().ok()?))
            })
            .collect();
        here.sort_by(|(one, _), (other, _)| one.cmp(other));
        let entry = |(name, kind): &(OsString, FileType)| TreeEntry {
            name: name.clone(),
            kind: *kind,
            below: if kind.is_dir() { Self::read(&directory.join(name)) } else { Self::default() },
        };
        let parts = in_parts(&here, ENTRIES_PER_THREAD, processors, |part| part.iter().map(entry).collect::<Vec<_>>());
        Self { entries: parts.into_iter().flatten().collect() }
    }

    /// What was read of the directory at a relative path. `None`: none was read there, since the path leads outside or through a link.
    pub fn at(&self, path: &Path) -> Option<&Self> {
        path.components().try_fold(self, |tree, part| match part {
            Component::CurDir => Some(tree),
            Component::Normal(name) => {
                let entry = tree.entries.iter().find(|entry| entry.name == name)?;
                entry.kind.is_dir().then_some(&entry.below)
            }
            _ => None,
        })
    }

    /// Number of entries, those of all directories.
    pub(crate) fn len(&self) -> usize {
        self.entries.iter().map(|entry| 1 + entry.below.len()).sum()
    }

    /// Whether there is a link anywhere.
    pub(crate) fn has_link(&self) -> bool {
        self.entries.iter().any(|entry| entry.kind.is_symlink() || entry.below.has_link())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_what_was_read_there() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("a/b/c")).unwrap();
        fs::write(root.path().join("a/file"), "").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("a", root.path().join("link")).unwrap();
        let tree = Tree::read(root.path());
        let names = |path: &str| {
            let tree = tree.at(Path::new(path))?;
            Some(tree.entries.iter().map(|entry| entry.name.to_str().unwrap()).collect::<Vec<_>>())
        };
        assert_eq!(names("./a/").unwrap(), ["b", "file"]);
        assert_eq!(names("a/b").unwrap(), ["c"]);
        assert_eq!(names("").map(|names| names.len()), Some(if cfg!(unix) { 2 } else { 1 }));
        for path in ["a/file", "a/nothing", "../a", "link", "link/b", "/a"] {
            assert_eq!(names(path), None, "{path}");
        }
    }
}
