//! A reader of YAML and JSON that makes something of every text: a file is seldom valid while somebody types.
//!
//! `granit-parser` and `serde_json` stop at the first mistake. What this reader says about a file is used for completion and for what
//! is under the cursor, never for diagnostics.

mod flow;
mod reader;

#[cfg(test)]
mod tests;

use std::ops::Range;

pub(super) use reader::{read, read_lines};

/// A value and the bytes where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) range: Range<usize>,
    pub(super) data: Data,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Data {
    Mapping(Vec<MappingEntry>),
    Sequence(Vec<Node>),
    /// The text without quotes, not unescaped; empty where there is no value.
    Scalar(String),
}

/// A key of a mapping and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MappingEntry {
    pub(super) key: String,
    pub(super) key_range: Range<usize>,
    pub(super) value: Node,
    /// Whether a colon follows the key.
    pub(super) is_complete: bool,
}

impl Node {
    /// Nothing, at a place.
    fn empty(at: usize) -> Self {
        Self { range: at..at, data: Data::Scalar(String::new()) }
    }

    pub(super) fn entries(&self) -> &[MappingEntry] {
        match &self.data {
            Data::Mapping(entries) => entries,
            _ => &[],
        }
    }

    pub(super) fn items(&self) -> &[Node] {
        match &self.data {
            Data::Sequence(items) => items,
            _ => &[],
        }
    }

    pub(super) fn scalar(&self) -> Option<&str> {
        match &self.data {
            Data::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        value_of(self.entries(), key)
    }
}

/// The value of a key of a mapping.
pub(super) fn value_of<'n>(entries: &'n [MappingEntry], key: &str) -> Option<&'n Node> {
    entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
}
