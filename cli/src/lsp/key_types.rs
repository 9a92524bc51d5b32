//! What can be written at a place of a file, by the tables of keys.

use evalsuite_loader::key_tables::{GRADER_KEYS, GRADERS, Key, RUST_GRADER, TASK_GRADER_KEYS, Table, Type};

use super::syntax::{Data, MappingEntry, Node, value_of};

/// Something that a value can be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Expected {
    Type(&'static Type),
    /// The settings of a grader of the tasks layout.
    Settings(&'static Table),
}

/// The keys that a mapping can have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    common: &'static [Key],
    pub(super) table: &'static Table,
}

impl Shape {
    pub(super) fn keys(self) -> impl Iterator<Item = &'static Key> {
        self.common.iter().chain(self.table.keys)
    }

    /// The key with this spelling.
    pub(super) fn key(self, name: &str) -> Option<&'static Key> {
        self.keys().find(|key| key.name == name || key.or == Some(name) || key.old.contains(&name))
    }
}

/// What is at a place of a file.
pub(super) struct Spot<'n> {
    /// The scalar or list or mapping there, or the value of the key there.
    pub(super) node: &'n Node,
    /// The entry whose key or value is there, or whose value is around it.
    pub(super) entry: Option<&'n MappingEntry>,
    /// Whether the place is in the key.
    pub(super) is_key: bool,
    /// The mapping of the entry, and what it can be.
    pub(super) mapping: &'n [MappingEntry],
    pub(super) shapes: Vec<Shape>,
    /// What the value can be.
    pub(super) expected: Vec<Expected>,
    /// The keys around it, the outermost first.
    pub(super) keys: Vec<&'n str>,
}

/// What is at byte `at` of a file.
pub(super) fn spot<'n>(root: &'n Node, kind: &'static Type, at: usize) -> Spot<'n> {
    let mut spot = Spot {
        node: root,
        entry: None,
        is_key: false,
        mapping: &[],
        shapes: Vec::new(),
        expected: flat(kind).map(Expected::Type).collect(),
        keys: Vec::new(),
    };
    let contains = |range: &std::ops::Range<usize>| range.start <= at && at <= range.end;
    loop {
        match &spot.node.data {
            Data::Scalar(_) => return spot,
            Data::Sequence(items) => {
                // Of two that touch, the later one is being typed.
                let Some(item) = items.iter().rev().find(|item| contains(&item.range)) else { return spot };
                spot.expected = spot.expected.iter().flat_map(item_types).collect();
                spot.node = item;
            }
            Data::Mapping(entries) => {
                let is_here = |entry: &&MappingEntry| contains(&entry.key_range) || contains(&entry.value.range);
                let Some(entry) = entries.iter().rev().find(is_here) else { return spot };
                spot.shapes = shapes(&spot.expected, entries);
                spot.expected = value_types(&spot.expected, &spot.shapes, entries, &entry.key);
                spot.mapping = entries;
                spot.entry = Some(entry);
                spot.node = &entry.value;
                spot.keys.push(&entry.key);
                if contains(&entry.key_range) {
                    spot.is_key = true;
                    return spot;
                }
            }
        }
    }
}

fn flat(value: &'static Type) -> Box<dyn Iterator<Item = &'static Type>> {
    match value {
        Type::OneOf(types) => Box::new(types.iter().flat_map(flat)),
        other => Box::new(std::iter::once(other)),
    }
}

fn item_types(expected: &Expected) -> Vec<Expected> {
    match expected {
        Expected::Type(Type::List(of) | Type::Some(of)) => flat(of).map(Expected::Type).collect(),
        _ => Vec::new(),
    }
}

/// What a mapping with these entries can be.
pub(super) fn shapes(expected: &[Expected], entries: &[MappingEntry]) -> Vec<Shape> {
    let shape = |expected: &Expected| match expected {
        Expected::Type(Type::Object(table)) => Some(Shape { common: table.common, table }),
        Expected::Type(Type::Grader) => {
            let table = value_of(entries, "type").and_then(Node::scalar).and_then(grader).unwrap_or(RUST_GRADER);
            Some(Shape { common: GRADER_KEYS, table })
        }
        Expected::Settings(table) => Some(Shape { common: TASK_GRADER_KEYS, table }),
        Expected::Type(_) => None,
    };
    expected.iter().filter_map(shape).collect()
}

/// What the value of a key of such a mapping can be.
fn value_types(expected: &[Expected], shapes: &[Shape], entries: &[MappingEntry], key: &str) -> Vec<Expected> {
    let mut types = Vec::new();
    for known in shapes.iter().filter_map(|shape| shape.key(key)) {
        match known.value {
            Type::GraderSettings => {
                let table = value_of(entries, "name").and_then(Node::scalar).and_then(grader);
                types.extend(table.map(Expected::Settings));
            }
            _ => types.extend(flat(&known.value).map(Expected::Type)),
        }
    }
    for expected in expected {
        if let Expected::Type(Type::Map(of)) = expected {
            types.extend(flat(of).map(Expected::Type));
        }
    }
    types
}

/// The built-in grader with this name.
pub(super) fn grader(name: &str) -> Option<&'static Table> {
    let name = name.replace('_', "-");
    GRADERS.iter().copied().find(|table| table.id == name)
}

impl Spot<'_> {
    /// Whether the value names a type of graders.
    pub(super) fn is_grader_name(&self) -> bool {
        let key = self.entry.map(|entry| entry.key.as_str());
        let is_grader = |shape: &Shape| std::ptr::eq(shape.common, GRADER_KEYS);
        match key {
            Some("type") => self.shapes.iter().any(is_grader),
            Some("name") => self.shapes.iter().any(|shape| shape.table.id == "task-grader"),
            _ => false,
        }
    }

    /// Whether the value is the id of a case: an element of `depends_on`, or the case of a sample.
    pub(super) fn names_case(&self) -> bool {
        match self.keys.as_slice() {
            [.., "depends_on"] => self.shapes.iter().any(|shape| shape.key("depends_on").is_some()),
            [.., "case"] => self.shapes.iter().any(|shape| shape.table.id == "sample"),
            _ => false,
        }
    }

    /// Whether the value is the id of a case where the case is written.
    pub(super) fn is_case_id(&self) -> bool {
        self.keys.last() == Some(&"id")
            && self.shapes.iter().any(|shape| ["case", "case-file", "task"].contains(&shape.table.id))
    }

    /// The key of the tables that the entry has.
    pub(super) fn known_key(&self) -> Option<&'static Key> {
        let name = &self.entry?.key;
        self.shapes.iter().find_map(|shape| shape.key(name))
    }
}
