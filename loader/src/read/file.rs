//! Reads text files.

use std::path::Path;
use std::sync::Arc;

use evalsuite_schema::line_breaks::digest_of_file;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{FileId, Files, ReadProblem, Span};

/// Bytes of all files of a load, at most: what cases hold of them stays in memory.
pub(crate) const MAX_TOTAL: usize = 128 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads a text file and registers it, or reports why it cannot be read.
///
/// The text is without a leading byte order mark; the digest does not depend on line breaks.
pub(crate) fn read_text(path: &Path, files: &Files, diagnostics: &mut Diagnostics) -> Option<(FileId, Arc<str>)> {
    if files.bytes_read() > MAX_TOTAL {
        // The file that went beyond it was reported.
        return None;
    }
    let problem = match files.read(path) {
        Ok(bytes) => {
            let digest = digest_of_file(&bytes);
            let start = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
            match std::str::from_utf8(&bytes[start..]) {
                Ok(text) => {
                    let text: Arc<str> = text.into();
                    let (file, total) = files.add_counted(path, Arc::clone(&text), digest);
                    if total <= MAX_TOTAL {
                        return Some((file, text));
                    }
                    if total - text.len() > MAX_TOTAL {
                        return None;
                    }
                    ReadProblem::too_much(MAX_TOTAL)
                }
                Err(error) => ReadProblem::invalid_utf8(start + error.valid_up_to()),
            }
        }
        Err(problem) => problem,
    };
    let place = Span::whole(files.add(path));
    diagnostics.push(Diagnostic::new(problem.code, problem.message).at(place).help(problem.help));
    None
}
