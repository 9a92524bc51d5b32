//! Files that were looked at, and places in them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::memo::Memo;

/// A position in a file: line and column count from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Pos {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl Pos {
    /// The first character of a file.
    pub const START: Self = Self { line: 1, column: 1 };
}

/// A file known to [`Files`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

/// A stretch of a file, from the first character to behind the last one. A whole file or directory has no positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First character and the one behind the last; `None` for the file as a whole.
    pub range: Option<(Pos, Pos)>,
}

impl Span {
    /// The file or directory as a whole.
    pub fn whole(file: FileId) -> Self {
        Self { file, range: None }
    }

    /// From `start` to before `end`.
    pub fn new(file: FileId, start: Pos, end: Pos) -> Self {
        Self { file, range: Some((start, end)) }
    }

    /// Where it starts; the start of the file if it is a whole one.
    pub fn start(&self) -> Pos {
        self.range.map_or(Pos::START, |(start, _)| start)
    }
}

/// A file or directory that was looked at.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Where it lies.
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
    /// Those of them that several cases name.
    pub(crate) memo: Memo,
}

impl Files {
    /// Files whose paths are shown relative to `root`, the workspace root.
    pub fn new(root: &Path) -> Self {
        Self { shown_from: root.to_path_buf(), files: Mutex::new(Vec::new()), memo: Memo::default() }
    }

    /// How `path` is shown: relative to the workspace root if it lies inside, with `/` separators.
    pub fn shown(&self, path: &Path) -> String {
        let relative = path.strip_prefix(&self.shown_from).unwrap_or(path);
        let text = relative.to_string_lossy();
        let text = if std::path::MAIN_SEPARATOR == '/' { text.into_owned() } else { text.replace('\\', "/") };
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

    /// Every file that was looked at, in no particular order.
    pub fn all(&self) -> Vec<SourceFile> {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<SourceFile>> {
        self.files.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
