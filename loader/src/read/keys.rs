//! Repeated keys of a mapping.

use std::collections::HashMap;

use super::node::Entry;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};

/// Mappings up to this size are compared key by key, larger ones through an index.
const SMALL: usize = 16;

/// A key that each item of a list of graders has: a mapping with two of them is two graders in one item.
const ITEM_KEY: &str = "type";

/// Reports keys that were written before and keeps the first of each.
pub(super) fn drop_repeated(entries: &mut Vec<Entry>, d: &mut Diagnostics) {
    let repeats = if entries.len() <= SMALL { repeats_of_few(entries) } else { repeats_of_many(entries) };
    // What follows a second type belongs to a second item.
    let second_item = repeats.iter().map(|&(_, again)| again).find(|again| entries[*again].key == ITEM_KEY);
    for &(first, again) in &repeats {
        if second_item.is_some_and(|second| again > second) && entries[again].key != ITEM_KEY {
            continue;
        }
        let (first, again) = (&entries[first], &entries[again]);
        let message = format!("key `{}` given twice", again.key);
        let problem = Diagnostic::new(Code::DuplicateKey, message).at(again.key_span);
        let is_in_one_line = first.key_span.start().line == again.key_span.start().line;
        let help = match again.key.as_str() {
            ITEM_KEY if is_in_one_line => "keep one; for two items, write each in its own braces: `{ … }, { … }`",
            ITEM_KEY => "keep one; for two items of a list, start the second with `-`",
            _ => "keep one",
        };
        d.push(problem.related(first.key_span, "first given here").help(help));
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
