//! Reading: bytes of a file in, a tree of [`Node`](crate::read::node::Node)s with places out.

mod file;
mod json;
mod keys;
pub(crate) mod node;
mod yaml;

#[cfg(test)]
mod tests;

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

pub(crate) use file::{MAX_TOTAL, read_marked_text, read_text};
pub(crate) use json::{parse_json, parse_jsonl};
#[cfg(feature = "documents")]
pub(crate) use yaml::{parse_js_yaml, yaml_comments};
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
