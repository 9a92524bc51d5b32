//! The comments of a YAML file and the entries that they belong to.

use std::collections::BTreeMap;

use crate::read;
use crate::read::node::{Data, Node};
use crate::source::Position;

/// Comments by the place where their entry starts.
#[derive(Default)]
pub(super) struct Comments {
    above: BTreeMap<Position, Vec<String>>,
    beside: BTreeMap<Position, String>,
    /// Those after the last entry.
    pub(super) end: Vec<String>,
}

/// Where entries start, and what scalars cover.
#[derive(Default)]
struct Places {
    entries: Vec<Position>,
    /// First character of each scalar and the one after its last.
    scalars: BTreeMap<Position, Position>,
}

impl Comments {
    pub(super) fn of(text: &str, root: &Node) -> Self {
        let mut places = Places::default();
        places.add(root);
        places.entries.sort();
        let mut comments = Self::default();
        let mut waiting = Vec::new();
        let mut written = read::yaml_comments(text).peekable();
        for (number, line) in (1..).zip(text.lines()) {
            let is_value = places.is_scalar(Position { line: number, column: 1 });
            match written.next_if(|(position, _)| position.line == number) {
                Some((position, comment)) => match places.last_on_line(position) {
                    Some(entry) => drop(comments.beside.insert(entry, comment)),
                    None => waiting.push(comment),
                },
                None if line.trim().is_empty() && !is_value && waiting.last().is_none_or(|last| !last.is_empty()) => {
                    waiting.push(String::new());
                }
                None => {}
            }
            let start = Position { line: number + 1, column: 1 };
            let next = places.entries.partition_point(|entry| *entry < start);
            if let Some(entry) = places.entries.get(next).filter(|entry| entry.line == number + 1)
                && !waiting.is_empty()
            {
                comments.above.insert(*entry, std::mem::take(&mut waiting));
            }
        }
        while waiting.last().is_some_and(String::is_empty) {
            waiting.pop();
        }
        comments.end = waiting;
        comments
    }

    /// The comments of the entry that starts at `position`; the outermost one that asks gets them.
    pub(super) fn take(&mut self, position: Position) -> (Vec<String>, Option<String>) {
        (self.above.remove(&position).unwrap_or_default(), self.beside.remove(&position))
    }
}

impl Places {
    fn add(&mut self, node: &Node) {
        match &node.data {
            Data::Sequence(items) => {
                for item in items {
                    self.entries.push(item.span.start());
                    self.add(item);
                }
            }
            Data::Mapping(entries) => {
                for entry in entries {
                    self.entries.push(entry.key_span.start());
                    self.scalars.extend(entry.key_span.range);
                    self.add(&entry.value);
                }
            }
            _ => self.scalars.extend(node.span.range),
        }
    }

    /// Whether the character at `position` is in a scalar.
    fn is_scalar(&self, position: Position) -> bool {
        self.scalars.range(..=position).next_back().is_some_and(|(_, end)| position < *end)
    }

    /// The last entry that starts on the line of `end`, before it.
    fn last_on_line(&self, end: Position) -> Option<Position> {
        let next = self.entries.partition_point(|entry| *entry < end);
        self.entries[..next].last().copied().filter(|entry| entry.line == end.line)
    }
}
