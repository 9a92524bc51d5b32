//! Bytes of regular files, of a limited size.

use std::fs::{File, FileType};
use std::io::Read;
use std::path::Path;
use std::{fs, io};

use evalsuite_schema::diagnostics::{Code, Diagnostic};

use super::Span;

/// Bytes of a file, at most.
pub(crate) const MAX_BYTES: usize = 16 << 20;

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
