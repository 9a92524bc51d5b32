//! `<<` takes over the entries of other mappings.

use std::collections::HashSet;

use crate::diagnostic::{Code, Diagnostics};
use crate::read::node::{Data, Entry, Node};

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
