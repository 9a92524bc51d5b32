//! Whether files are unchanged: their length and the time of their last change.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fs, io};

use evalsuite_loader::source::Files;
use serde::{Deserialize, Serialize};
use walkdir::WalkDir;

use crate::embed::Contents;

/// The state of files and directories, one line of text each: kind, nanoseconds, length, path.
///
/// Text because the macro is not optimised and reads thousands of them in every expansion.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct FileStamps {
    pub(super) lines: String,
}

pub(super) const READ: &str = "r";
const OTHER: &str = "o";
pub(super) const MISSING: &str = "m";

impl FileStamps {
    /// The state of everything that a load looked at and of every directory below `root`. `None` if something changed
    /// after `started`, or so shortly before that the next change could get the same time.
    pub(super) fn take(
        files: &Files,
        embedded: Option<&Contents>,
        root: &Path,
        started: SystemTime,
    ) -> io::Result<Option<Self>> {
        let mut paths: BTreeSet<(PathBuf, &str)> = BTreeSet::new();
        for file in files.all() {
            // A missing file has a stamp of its own; the directory above it may be one where files come and go.
            if let Some(parent) = file.path.parent().filter(|_| file.digest.is_some() || file.path.exists()) {
                paths.insert((parent.to_path_buf(), OTHER));
            }
            let kind = if file.digest.is_some() { READ } else { OTHER };
            paths.insert((file.path, kind));
        }
        for (path, is_file) in embedded.into_iter().flat_map(Contents::sources) {
            paths.insert((path.to_path_buf(), if is_file { READ } else { OTHER }));
        }
        directories(root, &mut paths)?;
        let mut lines = String::new();
        for (path, kind) in &paths {
            let Some(text) = path.to_str().filter(|text| !text.contains('\n')) else { return Ok(None) };
            let line = match fs::metadata(path) {
                Ok(metadata) if is_too_new(&metadata, started) => return Ok(None),
                Ok(metadata) => format!("{kind} {} {} {text}\n", nanoseconds(&metadata), length(&metadata)),
                Err(error) if is_missing(&error) => format!("{MISSING} 0 0 {text}\n"),
                Err(error) => return Err(error),
            };
            lines.push_str(&line);
        }
        Ok(Some(Self { lines }))
    }
}

pub(super) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Adds `root` and all directories below it, links not followed: a new file changes the time of its directory.
fn directories(root: &Path, paths: &mut BTreeSet<(PathBuf, &str)>) -> io::Result<()> {
    for entry in WalkDir::new(root) {
        let entry = entry?;
        if entry.file_type().is_dir() {
            paths.insert((entry.into_path(), OTHER));
        }
    }
    Ok(())
}

pub(super) fn nanoseconds(metadata: &Metadata) -> u128 {
    let since = |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0, |duration| duration.as_nanos());
    metadata.modified().map_or(0, since)
}

/// Lengths of directories have no meaning and differ between file systems.
pub(super) fn length(metadata: &Metadata) -> u64 {
    if metadata.is_dir() { 0 } else { metadata.len() }
}

/// Whether a file could change again without a new time of change. Clocks of file systems tick every few milliseconds,
/// those that know no parts of a second every two seconds.
fn is_too_new(metadata: &Metadata, started: SystemTime) -> bool {
    let Ok(modified) = metadata.modified() else { return true };
    let tick = match nanoseconds(metadata) % 1_000_000_000 {
        0 => Duration::from_secs(2),
        _ => Duration::from_millis(20),
    };
    modified + tick >= started
}

#[cfg(all(test, feature = "expand"))]
mod tests {
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use evalsuite_loader::source::Files;

    use super::FileStamps;

    fn later() -> SystemTime {
        SystemTime::now() + Duration::from_secs(60)
    }

    fn stamps(root: &Path) -> FileStamps {
        let files = Files::new(root);
        files.add_text(&root.join("a/case.json"), "{}".into(), [0; 32]);
        files.add(&root.join("templates/missing.yaml"));
        FileStamps::take(&files, None, root, later()).expect("readable").expect("old enough")
    }

    fn suite() -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a temporary directory");
        for folder in ["a", "empty", "templates"] {
            std::fs::create_dir(root.path().join(folder)).expect("a folder");
        }
        std::fs::write(root.path().join("a/case.json"), "{}").expect("a file");
        root
    }

    #[test]
    fn unchanged_files_have_current_stamps() {
        let root = suite();
        let stamps = stamps(root.path());
        assert!(stamps.are_current());
        assert_eq!(stamps.files_read(), [root.path().join("a/case.json")]);
    }

    #[test]
    fn every_change_makes_the_stamps_outdated() {
        type Change = fn(&Path) -> std::io::Result<()>;
        let changes: [(&str, Change); 6] = [
            ("edited", |root| std::fs::write(root.join("a/case.json"), "{ }")),
            ("deleted", |root| std::fs::remove_file(root.join("a/case.json"))),
            ("added beside", |root| std::fs::write(root.join("a/b.json"), "{}")),
            ("added in an empty folder", |root| std::fs::write(root.join("empty/b.json"), "{}")),
            ("added folder", |root| std::fs::create_dir(root.join("a/new"))),
            ("what was missing appears", |root| std::fs::write(root.join("templates/missing.yaml"), "")),
        ];
        for (name, change) in changes {
            let root = suite();
            let stamps = stamps(root.path());
            change(root.path()).expect(name);
            assert!(!stamps.are_current(), "{name}");
        }
    }

    #[test]
    fn a_file_that_changed_while_it_was_read_has_no_stamp() {
        let root = suite();
        let files = Files::new(root.path());
        files.add_text(&root.path().join("a/case.json"), "{}".into(), [0; 32]);
        let started = SystemTime::now() - Duration::from_secs(1);
        assert!(FileStamps::take(&files, None, root.path(), started).expect("readable").is_none());
    }
}
