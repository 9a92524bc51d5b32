//! Repeated keys of a mapping.

use std::collections::HashMap;

use super::node::Entry;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};

/// Mappings up to this size are compared key by key, larger ones through an index.
const SMALL: usize = 16;

/// Reports keys that were written before and keeps the first of each.
pub(super) fn drop_repeated(entries: &mut Vec<Entry>, d: &mut Diagnostics) {
    let repeats = if entries.len() <= SMALL { repeats_of_few(entries) } else { repeats_of_many(entries) };
    for &(first, again) in &repeats {
        let (first, again) = (&entries[first], &entries[again]);
        let message = format!("key `{}` given twice", again.key);
        let problem = Diagnostic::new(Code::DuplicateKey, message).at(again.key_span);
        d.push(problem.related(first.key_span, "first given here").help("keep one"));
    }
    if !repeats.is_empty() {
        let mut repeats = repeats.iter().map(|&(_, again)| again).peekable();
        let mut index = 0..;
        entries.retain(|_| repeats.next_if_eq(&index.next().unwrap_or_default()).is_none());
    }
}

/// Pairs of the first index of a key and a later one, ordered by the later one.
fn repeats_of_few(entries: &[Entry]) -> Vec<(usize, usize)> {
    let mut repeats = Vec::new();
    let mut again = 1;
    while again < entries.len() {
        let key = &entries[again].key;
        let mut first = 0;
        while first < again {
            // The lengths are compared first: this is the common case, in code that runs unoptimised.
            if entries[first].key.len() == key.len() && entries[first].key == *key {
                repeats.push((first, again));
                break;
            }
            first += 1;
        }
        again += 1;
    }
    repeats
}

fn repeats_of_many(entries: &[Entry]) -> Vec<(usize, usize)> {
    let mut firsts = HashMap::with_capacity(entries.len());
    let keys = entries.iter().map(|entry| entry.key.as_str()).enumerate();
    let pairs = keys.map(|(index, key)| (*firsts.entry(key).or_insert(index), index));
    pairs.filter(|(first, again)| first != again).collect()
}
