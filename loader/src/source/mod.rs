//! Files that were looked at, and places in them.

mod line_index;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use evalsuite_schema::Location;
use evalsuite_schema::diagnostic::SourceRange;

pub use evalsuite_schema::diagnostic::Position;

pub(crate) use line_index::LineIndex;

/// `path` relative to `root` if it is inside, with `/` separators.
pub(crate) fn relative_to(root: &Path, path: &Path) -> String {
    let text = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
    if std::path::MAIN_SEPARATOR == '/' { text.into_owned() } else { text.replace('\\', "/") }
}

/// A file known to [`Files`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

/// A range of a file, or a file or directory as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The first character and the one after the last; `None` for the file or directory as a whole.
    pub range: Option<(Position, Position)>,
}

impl Span {
    /// The file or directory as a whole.
    pub fn whole(file: FileId) -> Self {
        Self { file, range: None }
    }

    /// From `start` to before `end`.
    pub fn new(file: FileId, start: Position, end: Position) -> Self {
        Self { file, range: Some((start, end)) }
    }

    /// Where it starts; the start of the file if it is a whole one.
    pub fn start(&self) -> Position {
        self.range.map_or(Position::START, |(start, _)| start)
    }
}

/// A file or directory that was looked at.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Its path.
    pub path: PathBuf,
    /// How it is shown: relative to the workspace root, with `/` separators.
    pub shown: Arc<str>,
    /// Its text; `None` for directories and for files that could not be read as text.
    pub text: Option<Arc<str>>,
    /// SHA-256 of its bytes; `None` for directories and unreadable files.
    pub digest: Option<[u8; 32]>,
}

/// All files of one load. Shared by the threads that read cases.
#[derive(Debug)]
pub struct Files {
    shown_from: PathBuf,
    files: Mutex<Vec<SourceFile>>,
}

impl Files {
    /// Files whose paths are shown relative to `root`, the workspace root.
    pub fn new(root: &Path) -> Self {
        Self { shown_from: root.to_path_buf(), files: Mutex::new(Vec::new()) }
    }

    /// How `path` is shown: relative to the workspace root if it is inside, with `/` separators.
    pub fn shown(&self, path: &Path) -> String {
        let text = relative_to(&self.shown_from, path);
        if text.is_empty() { ".".to_owned() } else { text }
    }

    /// Adds a directory, or a file without text.
    pub fn add(&self, path: &Path) -> FileId {
        self.insert(path, None, None)
    }

    /// Adds a file that was read.
    pub fn add_text(&self, path: &Path, text: Arc<str>, digest: [u8; 32]) -> FileId {
        self.insert(path, Some(text), Some(digest))
    }

    fn insert(&self, path: &Path, text: Option<Arc<str>>, digest: Option<[u8; 32]>) -> FileId {
        let file = SourceFile { path: path.to_path_buf(), shown: self.shown(path).into(), text, digest };
        let mut files = self.lock();
        let id = FileId(u32::try_from(files.len()).expect("fewer than 2^32 files are looked at"));
        files.push(file);
        id
    }

    /// The file with this id.
    pub fn get(&self, id: FileId) -> SourceFile {
        self.lock()[id.0 as usize].clone()
    }

    /// The start of a span as records and reports name it; without line and column for a file or directory as a whole.
    pub(crate) fn location(&self, span: Span) -> Location {
        let (line, column) = span.range.map_or((0, 0), |(start, _)| (start.line, start.column));
        Location::new(&*self.get(span.file).shown, line, column)
    }

    /// A span in the form in which it is shown, with the line where it starts.
    pub fn locate(&self, span: Span) -> SourceRange {
        self.range(span, self.line_index(span.file).as_ref())
    }

    /// The same for a file whose lines are known.
    pub(crate) fn range(&self, span: Span, lines: Option<&LineIndex>) -> SourceRange {
        let shown = &*self.get(span.file).shown;
        match span.range {
            Some((start, end)) => SourceRange::new(shown, start, end, lines.map(|lines| lines.excerpt(start, end))),
            None => SourceRange::whole(shown),
        }
    }

    pub(crate) fn line_index(&self, file: FileId) -> Option<LineIndex> {
        self.get(file).text.map(LineIndex::new)
    }

    /// Every file that was looked at, in no particular order.
    pub fn all(&self) -> Vec<SourceFile> {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<SourceFile>> {
        self.files.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
