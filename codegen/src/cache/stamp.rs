//! Whether files are as they were: their length and the time of their last change.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::embed::Contents;
use evalsuite_loader::source::Files;
use serde::{Deserialize, Serialize};

/// The state of files and directories, one line of text each: kind, nanoseconds, length, path.
///
/// Text because the macro is not optimised and reads thousands of them in every expansion.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Stamps {
    lines: String,
}

const READ: &str = "r";
const OTHER: &str = "o";
const MISSING: &str = "m";

impl Stamps {
    /// The state of everything that a load looked at and of every directory below `root`. `None` if something changed
    /// after `started`, or so shortly before that the next change could get the same time.
    pub(crate) fn take(
        files: &Files,
        embedded: Option<&Contents>,
        root: &Path,
        started: SystemTime,
    ) -> io::Result<Option<Self>> {
        let mut paths: BTreeSet<(PathBuf, &str)> = BTreeSet::new();
        for file in files.all() {
            // What is missing says so itself; the directory above it may be one where files come and go.
            if let Some(parent) = file.path.parent().filter(|_| file.digest.is_some() || file.path.exists()) {
                paths.insert((parent.to_path_buf(), OTHER));
            }
            let kind = if file.digest.is_some() { READ } else { OTHER };
            paths.insert((file.path, kind));
        }
        for (path, is_file) in embedded.into_iter().flat_map(Contents::places) {
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

    /// Whether everything is as it was.
    pub(crate) fn hold(&self) -> bool {
        self.lines.lines().all(|line| {
            let Some((kind, time, size, path)) = parts(line) else { return false };
            match fs::metadata(path) {
                Ok(metadata) => {
                    kind != MISSING
                        && time == nanoseconds(&metadata).to_string()
                        && size == length(&metadata).to_string()
                }
                Err(error) => kind == MISSING && is_missing(&error),
            }
        })
    }

    /// The files that were read.
    pub(crate) fn read(&self) -> Vec<PathBuf> {
        let read = self.lines.lines().filter_map(parts).filter(|(kind, ..)| *kind == READ);
        read.map(|(.., path)| PathBuf::from(path)).collect()
    }
}

fn parts(line: &str) -> Option<(&str, &str, &str, &str)> {
    let (kind, rest) = line.split_once(' ')?;
    let (time, rest) = rest.split_once(' ')?;
    let (size, path) = rest.split_once(' ')?;
    Some((kind, time, size, path))
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// All directories below `root`, links not followed: a new file changes the time of its directory.
fn directories(root: &Path, paths: &mut BTreeSet<(PathBuf, &str)>) -> io::Result<()> {
    paths.insert((root.to_path_buf(), OTHER));
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            directories(&entry.path(), paths)?;
        }
    }
    Ok(())
}

fn nanoseconds(metadata: &Metadata) -> u128 {
    let since = |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0, |duration| duration.as_nanos());
    metadata.modified().map_or(0, since)
}

/// Lengths of directories say nothing and differ between file systems.
fn length(metadata: &Metadata) -> u64 {
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

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use evalsuite_loader::source::Files;

    use super::Stamps;

    fn later() -> SystemTime {
        SystemTime::now() + Duration::from_secs(60)
    }

    fn stamps(root: &Path) -> Stamps {
        let files = Files::new(root);
        files.add_text(&root.join("a/case.json"), "{}".into(), [0; 32]);
        files.add(&root.join("templates/missing.yaml"));
        Stamps::take(&files, None, root, later()).expect("readable").expect("old enough")
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
    fn nothing_changed() {
        let root = suite();
        let stamps = stamps(root.path());
        assert!(stamps.hold());
        assert_eq!(stamps.read(), [root.path().join("a/case.json")]);
    }

    #[test]
    fn every_change_is_seen() {
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
            assert!(!stamps.hold(), "{name}");
        }
    }

    #[test]
    fn a_file_that_changed_while_it_was_read_is_not_kept() {
        let root = suite();
        let files = Files::new(root.path());
        files.add_text(&root.path().join("a/case.json"), "{}".into(), [0; 32]);
        let started = SystemTime::now() - Duration::from_secs(1);
        assert!(Stamps::take(&files, None, root.path(), started).expect("readable").is_none());
    }
}
