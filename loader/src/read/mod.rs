//! Reading: bytes of a file in, a tree of [`Node`](crate::read::node::Node)s with places out.

mod json;
pub(crate) mod node;
#[cfg(test)]
mod tests;
mod yaml;

use std::path::Path;
use std::sync::Arc;

use evalsuite_schema::line_breaks::digest_of_file;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::source::{FileId, Files, Span};

#[cfg(feature = "documents")]
pub(crate) use yaml::{parse_js_yaml, yaml_comments};

pub(crate) use json::{parse_json, parse_jsonl};
pub(crate) use yaml::{parse_texts, parse_yaml};

/// Collections in collections, at most; the root is the first.
const MAX_DEPTH: usize = 64;

/// Values of a file, with aliases expanded, at most.
const MAX_NODES: usize = 100_000;

/// Bytes of the text that the anchors and aliases of a file copy, at most.
const MAX_COPIED: usize = 16 << 20;

fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::new(Code::LimitExceeded, format!("nesting deeper than {MAX_DEPTH}")).at(span).help("split the file")
}

/// Bytes of all files of a load, at most: what cases hold of them stays in memory.
pub(crate) const MAX_TOTAL: usize = 128 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads a text file and registers it, or reports why it cannot be read.
///
/// The text is without a leading byte order mark; the digest does not depend on line breaks.
pub(crate) fn read_text(path: &Path, files: &Files, d: &mut Diagnostics) -> Option<(FileId, Arc<str>)> {
    read_marked_text(path, files, d).map(|(file, text, _)| (file, text))
}

/// The same, and whether the file starts with a byte order mark.
pub(crate) fn read_marked_text(path: &Path, files: &Files, d: &mut Diagnostics) -> Option<(FileId, Arc<str>, bool)> {
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
                    let (file, total) = files.insert(path, Some(Arc::clone(&text)), Some(digest));
                    if total <= MAX_TOTAL {
                        return Some((file, text, start > 0));
                    }
                    if total - text.len() > MAX_TOTAL {
                        return None;
                    }
                    let most = MAX_TOTAL >> 20;
                    let message = format!("with this file, the files of the suite are larger than {most} MiB");
                    Box::new(Diagnostic::new(Code::LimitExceeded, message).help("split the suite"))
                }
                Err(error) => {
                    let message = format!("invalid UTF-8 at byte {}", start + error.valid_up_to());
                    Box::new(Diagnostic::new(Code::InvalidUtf8, message).help("save the file as UTF-8"))
                }
            }
        }
        Err(problem) => problem,
    };
    d.push(problem.at(Span::whole(files.add(path))));
    None
}
