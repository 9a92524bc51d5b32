//! What a key or a type of graders means.

use std::ops::Range;

use super::file_tree::FileTree;
use super::key_docs;
use super::key_types::grader;

/// Markdown about what is at a byte, and the bytes that it is about.
pub(super) fn at(tree: &FileTree, offset: usize) -> Option<(String, Range<usize>)> {
    let spot = tree.at(offset);
    let entry = spot.entry?;
    let of_key = || spot.known_key().map(key_docs::of_key);
    if spot.is_key {
        return Some((of_key()?, entry.key_range.clone()));
    }
    let text = spot.node.scalar().filter(|text| !text.is_empty())?;
    let doc = if spot.is_grader_name() { key_docs::of_grader(grader(text)?) } else { of_key()? };
    Some((doc, spot.node.range.clone()))
}
