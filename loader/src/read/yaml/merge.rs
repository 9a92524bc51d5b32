//! `<<` takes over the entries of other mappings.

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::read::node::{Data, Entry, Node};

/// The key, written without quotes: in quotes it is an ordinary key, as in the `yaml` and `js-yaml` packages.
pub(super) const KEY: &str = "<<";

/// Replaces the merge key by the entries of its mappings that are not written in the mapping itself.
///
/// Earlier mappings of a list win over later ones. The entries keep the places where they are written.
pub(super) fn apply(entries: Vec<Entry>, diagnostics: &mut Diagnostics) -> Vec<Entry> {
    let Some(at) = entries.iter().position(|entry| entry.key == KEY) else { return entries };
    let mut before = entries;
    let after = before.split_off(at + 1);
    let Some(merge) = before.pop() else { return after };
    let written: std::collections::HashSet<&str> =
        before.iter().chain(&after).map(|entry| entry.key.as_str()).collect();
    let mut taken = std::collections::HashSet::new();
    let mut merged = Vec::new();
    for entry in sources(merge.value, diagnostics).into_iter().flatten() {
        if !written.contains(entry.key.as_str()) && taken.insert(entry.key.clone()) {
            merged.push(entry);
        }
    }
    before.extend(merged);
    before.extend(after);
    before
}

fn sources(value: Node, diagnostics: &mut Diagnostics) -> Vec<Vec<Entry>> {
    match value.data {
        Data::Mapping(entries) => vec![entries],
        Data::Sequence(items) => items.into_iter().filter_map(|item| source(item, diagnostics)).collect(),
        _ => source(value, diagnostics).into_iter().collect(),
    }
}

fn source(node: Node, diagnostics: &mut Diagnostics) -> Option<Vec<Entry>> {
    if let Data::Mapping(entries) = node.data {
        return Some(entries);
    }
    let message = format!("`<<` needs a mapping, found {}", node.kind());
    diagnostics.push(
        Diagnostic::new(Code::BadMergeKey, message).at(node.span).help("use an alias of a mapping, such as `*base`"),
    );
    None
}
