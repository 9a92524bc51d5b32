//! A file as it is while somebody types, with what its root is.

use std::ops::Range;
use std::path::Path;

use evalsuite_loader::keys::Type;

use super::file_kind::{FileKind, Form};
use super::key_types::{Spot, spot};
use super::syntax::Node;
use super::{file_kind, syntax};

/// The line before and after front matter.
const FENCE: &str = "---";

/// A file of a suite.
pub(super) struct FileTree {
    root: Node,
    kind: &'static Type,
    pub(super) is_json: bool,
}

impl FileTree {
    /// `None` for a file that is not one of a suite's.
    pub(super) fn read(path: &Path, text: &str) -> Option<Self> {
        let FileKind { root: kind, form } = file_kind::of(path, text)?;
        let root = match form {
            Form::Lines => syntax::read_lines(text),
            Form::FrontMatter => syntax::read(&front_matter(text)?),
            Form::Yaml | Form::Json => syntax::read(text),
        };
        Some(Self { root, kind, is_json: matches!(form, Form::Json | Form::Lines) })
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

/// The text up to the end of the front matter, with blanks in place of the line before it: bytes keep their places. While the line after
/// it is not written yet, it ends at a blank line.
fn front_matter(text: &str) -> Option<String> {
    let (fence, rest) = text.split_once('\n').filter(|(fence, _)| fence.trim_end() == FENCE)?;
    let lines = || rest.split_inclusive('\n');
    let is_fence = |line: &&str| line.trim_end() == FENCE;
    let length = |end: usize| lines().take(end).map(str::len).sum::<usize>();
    let end = lines().position(|line| is_fence(&line)).or_else(|| lines().position(|line| line.trim().is_empty()));
    let end = end.map_or(rest.len(), length);
    Some(format!("{}\n{}", " ".repeat(fence.len()), &rest[..end]))
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
