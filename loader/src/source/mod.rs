//! Files that were looked at, and places in them. Only regular files of a limited size are read.

mod positions;

use std::collections::BTreeMap;
use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use evalsuite_schema::Location;
use evalsuite_schema::diagnostics::{Code, Diagnostic, SourceRange};
use hmac_sha256::Hash;

pub use evalsuite_schema::diagnostics::Position;

pub(crate) use positions::LineIndex;

/// `path` relative to `root` if it is inside, with `/` separators.
pub(crate) fn relative_to(root: &Path, path: &Path) -> String {
    evalsuite_schema::discovery::with_slashes(path.strip_prefix(root).unwrap_or(path))
}

/// The position after a text that starts at `start`.
pub(crate) fn position_after(text: &str, start: Position) -> Position {
    let mut position = start;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\n' || character == '\r' && characters.peek() != Some(&'\n') {
            position = Position { line: position.line + 1, column: 1 };
        } else {
            position.column += 1;
        }
    }
    position
}

/// The byte of a text at a position.
fn byte_at(text: &str, wanted: Position) -> Option<usize> {
    let mut position = Position::START;
    let mut characters = text.char_indices().peekable();
    while position != wanted {
        let (_, character) = characters.next()?;
        let is_followed = characters.peek().is_some_and(|(_, next)| *next == '\n');
        if character == '\n' || character == '\r' && !is_followed {
            position = Position { line: position.line + 1, column: 1 };
        } else {
            position.column += 1;
        }
    }
    Some(characters.peek().map_or(text.len(), |(byte, _)| *byte))
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

    /// The character at a position.
    pub(crate) fn character(file: FileId, start: Position) -> Self {
        Self::new(file, start, Position { column: start.column + 1, ..start })
    }

    /// Where it starts; the start of the file if it is a whole one.
    pub fn start(&self) -> Position {
        self.range.map_or(Position::START, |(start, _)| start)
    }

    /// Where it ends; the start of the file if it is a whole one.
    pub(crate) fn end(&self) -> Position {
        self.range.map_or(Position::START, |(_, end)| end)
    }
}

/// A file or directory that was looked at.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Its path.
    pub path: PathBuf,
    /// How it is shown: relative to the workspace root, with `/` separators.
    pub shown: Arc<str>,
    /// Its text; `None` for directories, for files that could not be read as text, and where there is so much text that not
    /// all of it is kept.
    pub text: Option<Arc<str>>,
    /// SHA-256 of its bytes; `None` for directories and unreadable files.
    pub digest: Option<[u8; 32]>,
}

/// Bytes of text that are kept, at most, to show the lines of problems.
const MAX_KEPT: usize = 32 << 20;

/// Texts that are read in place of the contents of files, by the whole paths of the files. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Texts(Arc<BTreeMap<PathBuf, Arc<str>>>);

impl Texts {
    /// The text in place of the file at `path`.
    pub fn get(&self, path: &Path) -> Option<&Arc<str>> {
        self.0.get(path)
    }
}

impl FromIterator<(PathBuf, Arc<str>)> for Texts {
    fn from_iter<I: IntoIterator<Item = (PathBuf, Arc<str>)>>(texts: I) -> Self {
        Self(Arc::new(texts.into_iter().collect()))
    }
}

/// All files of one load. Shared by the threads that read cases.
#[derive(Debug)]
pub struct Files {
    shown_from: PathBuf,
    texts: Texts,
    looked_at: Mutex<LookedAt>,
}

#[derive(Debug, Clone, Default)]
struct LookedAt {
    files: Vec<SourceFile>,
    /// Bytes of all texts that were read.
    read: usize,
}

impl Files {
    /// Files whose paths are shown relative to `root`, the workspace root.
    pub fn new(root: &Path) -> Self {
        Self { shown_from: root.to_path_buf(), texts: Texts::default(), looked_at: Mutex::default() }
    }

    /// The same with `texts` in place of the contents of their files.
    #[must_use]
    pub(crate) fn with_texts(self, texts: &Texts) -> Self {
        Self { texts: texts.clone(), ..self }
    }

    /// Replaces the texts that are read in place of files.
    pub(crate) fn set_texts(&mut self, texts: &Texts) {
        self.texts = texts.clone();
    }

    /// Number of files that were read, each as often as it was.
    pub(crate) fn number_read(&self) -> usize {
        self.lock().files.iter().filter(|file| file.digest.is_some()).count()
    }

    /// The bytes of a file, or of the text that takes its place.
    pub(crate) fn read(&self, path: &Path) -> Result<Vec<u8>, ReadProblem> {
        match self.texts.get(path) {
            Some(text) => limited(text.as_bytes().to_vec()),
            None => read_bytes(path),
        }
    }

    /// How `path` is shown: relative to the workspace root if it is inside, with `/` separators.
    pub fn shown(&self, path: &Path) -> String {
        let text = relative_to(&self.shown_from, path);
        if text.is_empty() { ".".to_owned() } else { text }
    }

    /// Adds a directory, or a file without text.
    pub fn add(&self, path: &Path) -> FileId {
        self.insert(path, None, None).0
    }

    /// Adds a file that was read.
    pub fn add_text(&self, path: &Path, text: Arc<str>, digest: [u8; 32]) -> FileId {
        self.insert(path, Some(text), Some(digest)).0
    }

    /// Number of bytes of all texts that were added, also of those that are not kept.
    pub(crate) fn bytes_read(&self) -> usize {
        self.lock().read
    }

    /// The text of a file as it was when it was read; `None` if that is not known any more.
    pub(crate) fn text(&self, file: &SourceFile) -> Option<Arc<str>> {
        file.text.clone().or_else(|| {
            let digest = file.digest?;
            let text = self.read(&file.path).ok().filter(|bytes| Hash::hash(bytes)[..] == digest)?;
            let text = String::from_utf8(text).ok()?;
            Some(text.strip_prefix('\u{feff}').unwrap_or(&text).into())
        })
    }

    /// As [`Files::add_text`], or [`Files::add`] without text; with the number of bytes that were read so far.
    pub(crate) fn insert(&self, path: &Path, text: Option<Arc<str>>, digest: Option<[u8; 32]>) -> (FileId, usize) {
        let shown = self.shown(path).into();
        let mut looked_at = self.lock();
        looked_at.read += text.as_ref().map_or(0, |text| text.len());
        let text = text.filter(|_| looked_at.read <= MAX_KEPT);
        let id = FileId(u32::try_from(looked_at.files.len()).expect("fewer than 2^32 files are looked at"));
        looked_at.files.push(SourceFile { path: path.to_path_buf(), shown, text, digest });
        (id, looked_at.read)
    }

    /// The file with this id.
    pub fn get(&self, id: FileId) -> SourceFile {
        self.lock().files[id.0 as usize].clone()
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
        self.text(&self.get(file)).map(LineIndex::new)
    }

    /// The character at a byte of `text`, which a file has at `span`; all of it if the text is not written there as it is.
    pub(crate) fn character_of(&self, span: Span, text: &str, offset: usize) -> Span {
        let position = || {
            let (start, end) = span.range?;
            let file = self.text(&self.get(span.file))?;
            let raw = file.get(byte_at(&file, start)?..byte_at(&file, end)?)?;
            positions::position_of(raw, start, text, offset)
        };
        position().map_or(span, |position| Span::character(span.file, position))
    }

    /// Every file that was looked at, in no particular order.
    pub fn all(&self) -> Vec<SourceFile> {
        self.lock().files.clone()
    }

    /// Every file as it was read last, or as it was looked at if it was not read.
    pub(crate) fn latest(&self) -> BTreeMap<PathBuf, SourceFile> {
        let mut latest = BTreeMap::new();
        for file in self.all() {
            if file.digest.is_some() || !latest.contains_key(&file.path) {
                latest.insert(file.path.clone(), file);
            }
        }
        latest
    }

    /// The same files for another owner.
    pub(crate) fn copy(&self) -> Self {
        let looked_at = Mutex::new(self.lock().clone());
        Self { shown_from: self.shown_from.clone(), texts: self.texts.clone(), looked_at }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, LookedAt> {
        self.looked_at.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Bytes of a file, at most.
const MAX_BYTES: usize = 16 << 20;

/// The text of a file that belongs to no suite. `None` for what is missing, larger than 16 MiB, not UTF-8 or not a regular file.
pub fn plain_text(path: &Path) -> Option<String> {
    String::from_utf8(read_bytes(path).ok()?).ok()
}

/// Why a file cannot be read, without its place.
pub(crate) type ReadProblem = Box<Diagnostic<Span>>;

fn unreadable(message: impl Into<String>, help: &str) -> ReadProblem {
    Box::new(Diagnostic::new(Code::UnreadableFile, message).help(help))
}

fn io_problem(error: io::Error) -> ReadProblem {
    match error.kind() {
        io::ErrorKind::PermissionDenied => unreadable("permission denied", "make the file readable"),
        io::ErrorKind::NotFound => unreadable("no such file", "create it, or remove what names it"),
        _ => unreadable(format!("cannot be read: {error}"), "only plain files can be read"),
    }
}

fn too_large() -> ReadProblem {
    let message = format!("larger than {} MiB", MAX_BYTES >> 20);
    Box::new(Diagnostic::new(Code::LimitExceeded, message).help("split the file"))
}

/// The bytes of the file at `path`.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, ReadProblem> {
    if path.to_str().is_none() {
        return Err(unreadable("the name is not UTF-8", "rename it"));
    }
    // Looking comes before opening: opening a FIFO waits for somebody to write to it.
    check(&fs::metadata(path).map_err(io_problem)?)?;
    let file = File::open(path).map_err(io_problem)?;
    let metadata = file.metadata().map_err(io_problem)?;
    check(&metadata)?;
    let expected = usize::try_from(metadata.len()).unwrap_or(MAX_BYTES);
    let mut bytes = Vec::with_capacity(expected + 1);
    // One byte more than allowed detects a file that is too large, even if it grew since its size was checked.
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(io_problem)?;
    limited(bytes)
}

/// `bytes`, if they are not too many.
pub(crate) fn limited(bytes: Vec<u8>) -> Result<Vec<u8>, ReadProblem> {
    if bytes.len() > MAX_BYTES { Err(too_large()) } else { Ok(bytes) }
}

fn check(metadata: &fs::Metadata) -> Result<(), ReadProblem> {
    if !metadata.is_file() {
        let kind = describe(metadata.file_type());
        return Err(unreadable(format!("expected a file, found {kind}"), "only plain files can be read"));
    }
    if metadata.len() > MAX_BYTES as u64 { Err(too_large()) } else { Ok(()) }
}

fn describe(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a named pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_block_device() || kind.is_char_device() {
            return "a device";
        }
    }
    if kind.is_dir() { "a directory" } else { "something else" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_of_a_file_is_its_last_reading() {
        let files = Files::new(Path::new("/root"));
        let (read, seen) = (Path::new("/root/read"), Path::new("/root/seen"));
        files.add_text(read, "old".into(), [0; 32]);
        files.add_text(read, "new".into(), [1; 32]);
        files.add(read);
        files.add(seen);
        let latest = files.latest();
        let text = |path| latest.get(path).map(|file: &SourceFile| file.text.as_deref());
        assert_eq!((text(read), text(seen), latest.len()), (Some(Some("new")), Some(None), 2));
    }
}
