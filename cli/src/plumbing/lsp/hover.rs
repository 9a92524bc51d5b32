//! What a key or a type of graders means.

use std::ops::Range;

use super::file_tree::FileTree;
use super::key_docs;
use super::key_types::grader;

/// Markdown about what is at a byte, and the bytes that it is about.
pub(super) fn at(tree: &FileTree, offset: usize) -> Option<(String, Range<usize>)> {
    let spot = tree.at(offset);
    let entry = spot.entry?;
    if spot.is_key {
        let (key, _) = spot.known_key()?;
        return Some((key_docs::of_key(key), entry.key_range.clone()));
    }
    let text = spot.node.scalar().filter(|text| !text.is_empty())?;
    let range = spot.node.range.clone();
    if spot.is_grader_name() {
        return Some((key_docs::of_grader(grader(text)?), range));
    }
    let (key, _) = spot.known_key()?;
    Some((key_docs::of_key(key), range))
}
