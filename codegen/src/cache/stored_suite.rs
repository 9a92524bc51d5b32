//! The cache file of a suite: what is known of it, and its code.
//!
//! One file, because two builds may write at once: what is read together was written together.
//!
//! Whether files are unchanged: their length, and the times of their last changes.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use evalsuite_loader::source::Files;
use evalsuite_loader::{LoadedSuite, Request};
use evalsuite_schema::diagnostics::Diagnostic;
use evalsuite_schema::json::{FromJson, ToJson};
use walkdir::WalkDir;

use crate::embed::{Contents, Embedded};
use crate::replaced_file;
use crate::statics::{Body, SuiteTexts};
use crate::suite_facts::SuiteFacts;
use crate::suite_location::entry_path;

/// First word of a cache file. Another number for another format.
const FORMAT: &str = "evalsuite-cache-6";

/// A suite as an expansion stored it.
#[derive(Debug)]
pub(crate) struct StoredSuite {
    pub(crate) record: SuiteRecord,
    pub(super) stamps: FileStamps,
    /// The cases that can be replaced, if any can.
    pub(super) own_files: OwnFiles,
    pub(crate) body: Body,
}

/// Everything about a stored suite but its files and its code.
#[derive(Debug, Clone, ToJson, FromJson)]
pub(crate) struct SuiteRecord {
    pub(super) key: SuiteKey,
    pub(crate) module: String,
    pub(crate) facts: SuiteFacts,
    /// Names of the graders that are not built in.
    pub(crate) graders: Vec<String>,
    pub(crate) warnings: Vec<Diagnostic>,
    /// The files with problems, as they are shown.
    pub(super) noted: BTreeSet<String>,
    /// How the files that cases need are embedded; `None` if there are too many.
    pub(crate) embedded: Option<Embedded>,
}

/// The suite of a request, and the program that stores it.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
pub(super) struct SuiteKey {
    /// Version of this crate: another one may generate other code.
    version: String,
    /// A crate of the same version may have been built from other sources.
    program: String,
    /// The suite's directory or file.
    pub(super) entry: PathBuf,
    package_root: PathBuf,
    workspace_root: PathBuf,
}

impl SuiteKey {
    pub(super) fn of(request: &Request, program: &str) -> Option<Self> {
        Some(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            program: program.to_owned(),
            entry: entry_path(request)?,
            package_root: request.package_root.clone(),
            workspace_root: request.workspace_root.clone(),
        })
    }
}

impl StoredSuite {
    /// The content of a cache file; `None` if there is none, or it is damaged.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let text = fs::read_to_string(path).ok()?;
        let (header, mut rest) = text.split_once('\n')?;
        let mut lengths = header.strip_prefix(FORMAT)?.split_ascii_whitespace().map(str::parse::<usize>);
        let mut next = || {
            let (part, others) = rest.split_at_checked(lengths.next()?.ok()?)?;
            rest = others;
            Some(part)
        };
        let record = evalsuite_schema::json::from_str(next()?).ok()?;
        let stamps = FileStamps { lines: next()?.to_owned() };
        let (statics, tests) = (next()?.to_owned(), next()?.to_owned());
        let texts = SuiteTexts { suite: next()?.to_owned(), cases: next()?.to_owned(), files: next()?.to_owned() };
        let own_files = OwnFiles { lines: next()?.to_owned() };
        let is_whole = lengths.next().is_none() && rest.is_empty();
        is_whole.then_some(Self { record, stamps, own_files, body: Body { statics, texts, tests } })
    }

    /// The files that were read or embedded.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.stamps.files()
    }

    /// Writes the cache file, in one step.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        let record = evalsuite_schema::json::to_string(&self.record)?;
        let Body { statics, texts, tests } = &self.body;
        let SuiteTexts { suite, cases, files } = texts;
        let parts = [&record, &self.stamps.lines, statics, tests, suite, cases, files, &self.own_files.lines];
        let mut text = FORMAT.to_owned();
        for part in parts {
            text.push_str(&format!(" {}", part.len()));
        }
        text.push('\n');
        text.reserve(parts.iter().map(|part| part.len()).sum());
        parts.iter().for_each(|part| text.push_str(part));
        replaced_file::write(path, text.as_bytes(), None)
    }
}

/// Cases with a file of their own that stand alone, one a line: index, names of graders that are not built in, file relative to the
/// suite's directory.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnFiles {
    lines: String,
}

/// A case with a file of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct OwnFile<'s> {
    /// Index of the case.
    pub(super) index: usize,
    /// Its graders, as [`graders`] writes them.
    pub(super) graders: &'s str,
    pub(super) source: &'s str,
}

impl OwnFiles {
    /// None of a suite whose other parts depend on the texts of all cases.
    pub(super) fn of(suite: &LoadedSuite) -> Self {
        let mut lines = String::new();
        if suite.has_unread_files || suite.calibration.is_some() {
            return Self::default();
        }
        for (index, loaded) in suite.cases.iter().enumerate().filter(|(_, loaded)| loaded.stands_alone) {
            let Some(graders) = graders(&loaded.user_graders) else { continue };
            if !loaded.source.contains('\n') {
                lines.push_str(&format!("{index} {graders} {}\n", loaded.source));
            }
        }
        Self { lines }
    }

    /// The case that has the file `source`.
    pub(super) fn find(&self, source: &str) -> Option<OwnFile<'_>> {
        self.lines.lines().filter_map(OwnFile::parse).find(|file| file.source == source)
    }
}

impl<'s> OwnFile<'s> {
    fn parse(line: &'s str) -> Option<Self> {
        let (index, rest) = line.split_once(' ')?;
        let (graders, source) = rest.split_once(' ')?;
        Some(Self { index: index.parse().ok()?, graders, source })
    }
}

/// Names as one word; `None` if one of them would make another word of it.
pub(super) fn graders(names: &[String]) -> Option<String> {
    let is_plain = |name: &String| !name.contains(|character: char| character == ',' || character.is_whitespace());
    names.iter().all(is_plain).then(|| names.join(","))
}

/// The state of files and directories, one line of text each: kind, stamp, path.
///
/// Text because the macro is not optimised and reads thousands of them in every expansion.
#[derive(Debug)]
pub(super) struct FileStamps {
    pub(super) lines: String,
}

/// What a file or directory is to the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StampKind {
    /// A file that was read.
    Read,
    /// A directory whose names were looked at.
    Listed,
    /// Part of the archive of embedded files.
    Embedded,
    /// Looked at in some other way.
    Other,
    /// Does not exist.
    Missing,
}

impl StampKind {
    const ALL: [(Self, &'static str); 5] =
        [(Self::Read, "r"), (Self::Listed, "d"), (Self::Embedded, "e"), (Self::Other, "o"), (Self::Missing, "m")];

    fn letter(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    fn of_letter(letter: &str) -> Option<Self> {
        Self::ALL.into_iter().find_map(|(kind, known)| (known == letter).then_some(kind))
    }
}

/// Everything by which the change of a file is seen, also if its time was set back.
fn stamp(metadata: &Metadata) -> String {
    // The lengths of directories have no meaning and differ between file systems.
    let length = if metadata.is_dir() { 0 } else { metadata.len() };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let (modified, changed) = (metadata.mtime(), metadata.ctime());
        let (modified_part, changed_part) = (metadata.mtime_nsec(), metadata.ctime_nsec());
        format!("{length}-{modified}.{modified_part}-{changed}.{changed_part}-{}", metadata.ino())
    }
    #[cfg(not(unix))]
    {
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        format!("{length}-{}", modified.unwrap_or_default().as_nanos())
    }
}

/// One line of [`FileStamps`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'s> {
    pub(super) kind: StampKind,
    stamp: &'s str,
    pub(super) path: &'s str,
}

impl<'s> Line<'s> {
    fn parse(line: &'s str) -> Option<Self> {
        let (letter, rest) = line.split_once(' ')?;
        let (stamp, path) = rest.split_once(' ')?;
        Some(Self { kind: StampKind::of_letter(letter)?, stamp, path })
    }

    /// Whether nothing has changed.
    pub(super) fn is_current(&self) -> bool {
        match fs::metadata(self.path) {
            Ok(metadata) => self.kind != StampKind::Missing && self.stamp == stamp(&metadata),
            Err(error) => self.kind == StampKind::Missing && is_missing(&error),
        }
    }

    /// Length of the file, in bytes.
    pub(super) fn length(&self) -> u64 {
        self.stamp.split_once('-').and_then(|(length, _)| length.parse().ok()).unwrap_or(0)
    }
}

impl FileStamps {
    /// The state of everything that a load looked at and of every directory below `root`. `None` if something changed
    /// after `started`, or so shortly before that the next change could get the same time, or if something cannot be read.
    pub(super) fn take(files: &Files, embedded: Option<&Contents>, root: &Path, started: SystemTime) -> Option<Self> {
        let mut paths: BTreeSet<(PathBuf, StampKind)> = BTreeSet::new();
        for file in files.all() {
            // A missing file has a stamp of its own; the directory above it may be one where files come and go.
            if let Some(parent) = file.path.parent().filter(|_| file.digest.is_some() || file.path.exists()) {
                paths.insert((parent.to_path_buf(), StampKind::Listed));
            }
            let kind = if file.digest.is_some() {
                StampKind::Read
            } else if file.path.is_dir() {
                StampKind::Listed
            } else {
                StampKind::Other
            };
            paths.insert((file.path, kind));
        }
        paths.extend(
            embedded.into_iter().flat_map(Contents::sources).map(|path| (path.to_path_buf(), StampKind::Embedded)),
        );
        // A new file changes the time of its directory. Links are not followed.
        for entry in WalkDir::new(root) {
            let entry = entry.ok()?;
            if entry.file_type().is_dir() {
                paths.insert((entry.into_path(), StampKind::Listed));
            }
        }
        let lines = paths.iter().map(|(path, kind)| line(path, *kind, started)).collect::<Option<_>>()?;
        Some(Self { lines })
    }

    /// The lines; `None` if one cannot be read.
    pub(super) fn all(&self) -> Option<Vec<Line<'_>>> {
        self.lines.lines().map(Line::parse).collect()
    }

    /// The files that were read or embedded.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let lines = self.lines.lines().filter_map(Line::parse);
        let files = lines.filter(|line| match line.kind {
            StampKind::Read => true,
            StampKind::Embedded => Path::new(line.path).is_file(),
            StampKind::Listed | StampKind::Other | StampKind::Missing => false,
        });
        files.map(|line| PathBuf::from(line.path)).collect()
    }

    /// The stamps with those of `changed` paths as they are now; `None` as for [`FileStamps::take`].
    pub(super) fn renewed(&self, changed: &BTreeSet<&str>, started: SystemTime) -> Option<Self> {
        let mut lines = String::with_capacity(self.lines.len());
        for old in self.lines.split_inclusive('\n') {
            match Line::parse(old.trim_end_matches('\n')).filter(|line| changed.contains(line.path)) {
                Some(Line { kind, path, .. }) => lines.push_str(&line(Path::new(path), kind, started)?),
                None => lines.push_str(old),
            }
        }
        Some(Self { lines })
    }
}

/// The line of a path; `None` if it cannot be read, its next change might not be seen, or a line cannot hold it.
fn line(path: &Path, kind: StampKind, started: SystemTime) -> Option<String> {
    let text = path.to_str().filter(|text| !text.contains('\n'))?;
    match fs::metadata(path) {
        Ok(metadata) if is_too_new(&metadata, started) => None,
        Ok(metadata) => Some(format!("{} {} {text}\n", kind.letter(), stamp(&metadata))),
        Err(error) => is_missing(&error).then(|| format!("{} 0 {text}\n", StampKind::Missing.letter())),
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether a file could change again without a new time of change. Clocks of file systems tick every few milliseconds,
/// those that know no parts of a second every two seconds.
fn is_too_new(metadata: &Metadata, started: SystemTime) -> bool {
    let Ok(modified) = metadata.modified() else { return true };
    // A tool may set the time of a file back, but not the time at which it did so.
    #[cfg(unix)]
    let modified = {
        use std::os::unix::fs::MetadataExt;
        let seconds = Duration::from_secs(metadata.ctime().try_into().unwrap_or_default());
        let parts = Duration::from_nanos(metadata.ctime_nsec().try_into().unwrap_or_default());
        modified.max(SystemTime::UNIX_EPOCH + seconds + parts)
    };
    let has_parts = modified.duration_since(SystemTime::UNIX_EPOCH).is_ok_and(|time| time.subsec_nanos() != 0);
    modified + Duration::from_millis(if has_parts { 20 } else { 2000 }) >= started
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use evalsuite_loader::source::Files;

    use super::{FileStamps, Line};

    fn later() -> SystemTime {
        SystemTime::now() + Duration::from_secs(60)
    }

    fn stamps(root: &Path) -> FileStamps {
        let files = Files::new(root);
        files.add_text(&root.join("a/case.json"), "{}".into(), [0; 32]);
        files.add(&root.join("templates/missing.yaml"));
        FileStamps::take(&files, None, root, later()).expect("readable and old enough")
    }

    fn are_current(stamps: &FileStamps) -> bool {
        stamps.all().expect("lines").iter().all(Line::is_current)
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
        assert!(are_current(&stamps));
        assert_eq!(stamps.files(), [root.path().join("a/case.json")]);
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
            assert!(!are_current(&stamps), "{name}");
        }
    }

    /// As a tool writes it that keeps times.
    #[cfg(unix)]
    #[test]
    fn a_file_that_changed_while_it_was_read_has_no_stamp_whatever_time_it_was_given() {
        let root = suite();
        let file = root.path().join("a/case.json");
        let files = Files::new(root.path());
        files.add_text(&file, "{}".into(), [0; 32]);
        let started = SystemTime::now() + Duration::from_millis(30);
        std::thread::sleep(Duration::from_millis(40));
        assert!(FileStamps::take(&files, None, root.path(), started).is_some());
        std::fs::write(&file, "{ }").expect("a file");
        let old = SystemTime::now() - Duration::from_secs(60);
        std::fs::File::open(&file).and_then(|file| file.set_modified(old)).expect("a time");
        assert!(FileStamps::take(&files, None, root.path(), started).is_none());
    }

    #[test]
    fn a_file_that_changed_while_it_was_read_has_no_stamp() {
        let root = suite();
        let files = Files::new(root.path());
        files.add_text(&root.path().join("a/case.json"), "{}".into(), [0; 32]);
        let started = SystemTime::now() - Duration::from_secs(1);
        assert!(FileStamps::take(&files, None, root.path(), started).is_none());
    }
}
