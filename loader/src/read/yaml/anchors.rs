//! Anchors, aliases and merge keys, `<<`.

use std::collections::{HashMap, HashSet};

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::read::node::{Data, Entry, Node};
use crate::read::{self, MAX_COPIED, MAX_DEPTH, MAX_NODES};
use crate::source::Span;

/// The values of anchors, and how much of them was copied: a few lines of aliases can expand to more than fits in memory.
#[derive(Default)]
pub(super) struct Anchors {
    /// By the parser's number of the anchor; not those whose values have not ended.
    values: HashMap<usize, Node>,
    /// Copied for anchors.
    kept: Size,
    /// Bytes of text copied for aliases.
    copied: usize,
}

#[derive(Default)]
struct Size {
    nodes: usize,
    bytes: usize,
}

impl Anchors {
    /// Stores the value of an anchor.
    pub(super) fn keep(&mut self, id: usize, node: &Node) -> Result<(), Diagnostic> {
        measure(node, &mut self.kept);
        if self.kept.nodes > MAX_NODES {
            return Err(too_many_nodes(node.span));
        }
        if self.kept.bytes > MAX_COPIED {
            return Err(too_much_text(node.span));
        }
        self.values.insert(id, node.clone());
        Ok(())
    }

    /// The value of an alias, with the span of the alias, which is `depth` collections deep. `nodes` grows by the values
    /// inside.
    pub(super) fn copy(&mut self, id: usize, span: Span, depth: usize, nodes: &mut usize) -> Result<Node, Diagnostic> {
        let Some(node) = self.values.get(&id) else {
            let message = "the alias is inside the value it refers to";
            return Err(Diagnostic::new(Code::YamlSyntax, message).at(span).help("a value cannot contain itself"));
        };
        let mut size = Size::default();
        if depth + measure(node, &mut size) > MAX_DEPTH {
            return Err(read::too_deep(span));
        }
        *nodes += size.nodes - 1;
        if *nodes >= MAX_NODES {
            return Err(too_many_nodes(span));
        }
        self.copied += size.bytes;
        if self.copied > MAX_COPIED {
            return Err(too_much_text(span));
        }
        Ok(Node { span, data: node.data.clone() })
    }
}

/// Adds up values and text, and returns how many collections are nested.
fn measure(node: &Node, size: &mut Size) -> usize {
    size.nodes += 1;
    match &node.data {
        Data::Null | Data::Bool(_) | Data::Number(_) | Data::Foreign(_) => 0,
        Data::String(text) => {
            size.bytes += text.len();
            0
        }
        Data::Sequence(items) => 1 + items.iter().map(|item| measure(item, size)).max().unwrap_or_default(),
        Data::Mapping(entries) => {
            let mut height = 0;
            for entry in entries {
                // A key is a value as well.
                size.nodes += 1;
                size.bytes += entry.key.len();
                height = height.max(measure(&entry.value, size));
            }
            1 + height
        }
    }
}

pub(super) fn too_many_nodes(span: Span) -> Diagnostic {
    let message = format!("more than {MAX_NODES} values, with aliases expanded");
    Diagnostic::new(Code::LimitExceeded, message).at(span).help("split the file")
}

fn too_much_text(span: Span) -> Diagnostic {
    let message = format!("anchors and aliases copy more than {} MiB of text", MAX_COPIED >> 20);
    Diagnostic::new(Code::LimitExceeded, message).at(span).help("split the file")
}

/// The key, written without quotes: in quotes it is an ordinary key, as in the `yaml` and `js-yaml` packages.
pub(super) const KEY: &str = "<<";

/// Replaces the merge key by the entries of its mappings that are not written in the mapping itself.
///
/// Earlier mappings of a list win over later ones. The entries keep the places where they are written.
pub(super) fn apply(mut entries: Vec<Entry>, d: &mut Diagnostics) -> Vec<Entry> {
    let Some(at) = entries.iter().position(|entry| entry.key == KEY) else { return entries };
    let sources = match entries.remove(at).value {
        Node { data: Data::Sequence(items), .. } => items,
        one => vec![one],
    };
    let mut taken: HashSet<String> = entries.iter().map(|entry| entry.key.clone()).collect();
    let mut merged = Vec::new();
    for source in sources {
        match source.data {
            Data::Mapping(more) => merged.extend(more.into_iter().filter(|entry| taken.insert(entry.key.clone()))),
            _ => {
                let message = format!("`<<` needs a mapping, found {}", source.kind());
                d.report(Code::BadMergeKey, source.span, message, "use an alias of a mapping, such as `*base`");
            }
        }
    }
    entries.splice(at..at, merged);
    entries
}
