//! A file as it is while somebody types, with what its root is.

use std::ops::Range;
use std::path::Path;

use evalsuite_loader::keys::Type;

use super::key_types::{Spot, spot};
use super::syntax::Node;
use super::{file_kind, syntax};

/// A file of a suite.
pub(super) struct FileTree {
    root: Node,
    kind: &'static Type,
    pub(super) is_json: bool,
}

impl FileTree {
    /// `None` for a file that is not one of a suite's.
    pub(super) fn read(path: &Path, text: &str) -> Option<Self> {
        let kind = file_kind::of(path, text)?;
        let root = if kind.is_lines { syntax::read_lines(text) } else { syntax::read(text) };
        let is_json = path.extension().is_some_and(|ending| ending == "json" || ending == "jsonl");
        Some(Self { root, kind: kind.root, is_json })
    }

    /// What is at a byte.
    pub(super) fn at(&self, offset: usize) -> Spot<'_> {
        spot(&self.root, self.kind, offset)
    }

    /// Every scalar of the file that names a case or is the id of one, by its text.
    pub(super) fn case_names(&self, id: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        collect(&self.root, &mut |node| {
            if node.scalar() == Some(id) || node.scalar().is_some_and(|text| unquoted(text) == id) {
                found.push(node.range.clone());
            }
        });
        found.retain(|range| {
            let spot = self.at(range.start);
            !spot.is_key && (spot.names_case() || spot.is_case_id())
        });
        found
    }
}

fn collect(node: &Node, visit: &mut impl FnMut(&Node)) {
    visit(node);
    node.entries().iter().for_each(|entry| collect(&entry.value, visit));
    node.items().iter().for_each(|item| collect(item, visit));
}

/// A scalar whose escapes are resolved as far as ids need it.
pub(super) fn unquoted(text: &str) -> String {
    text.replace("''", "'").replace("\\\"", "\"").replace("\\\\", "\\")
}
