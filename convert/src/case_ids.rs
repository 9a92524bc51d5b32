//! Ids of cases, from texts that are not valid ids.

use std::collections::{BTreeSet, HashMap};

/// Most characters of an id that is made from a text.
const LONGEST: usize = 60;

/// Gives each case an id of its own.
#[derive(Debug, Default)]
pub(crate) struct CaseIds {
    /// As names of tests, where `-` and `_` are the same.
    taken: BTreeSet<String>,
    /// The number from which on those of a text are free, or taken by another text.
    next_numbers: HashMap<String, usize>,
}

impl CaseIds {
    /// An id of lower-case letters, digits and dashes that no other case has: `text`, or with a number.
    pub(crate) fn next(&mut self, text: &str, otherwise: &str) -> String {
        let mut base = slug(text);
        if base.is_empty() {
            base = slug(otherwise);
        }
        let number = self.next_numbers.entry(base.clone()).or_insert(1);
        loop {
            let id = if *number == 1 { base.clone() } else { format!("{base}-{number}") };
            *number += 1;
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}

/// Letters and digits of a text, in lower case, with dashes between words.
pub(crate) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for character in text.chars().flat_map(char::to_lowercase) {
        if character.is_alphanumeric() {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let end = slug.char_indices().nth(LONGEST).map_or(slug.len(), |(at, _)| at);
    slug[..end].trim_end_matches('-').to_owned()
}

/// The name of a suite that is made from a text: ASCII only.
pub(crate) fn suite_name(text: &str) -> String {
    slug(text).chars().filter(char::is_ascii).collect::<String>().trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_words() {
        let mut ids = CaseIds::default();
        assert_eq!(ids.next("Check for exact match!", "test-1"), "check-for-exact-match");
        assert_eq!(ids.next("check FOR exact_match", "test-2"), "check-for-exact-match-2");
        assert_eq!(ids.next("check for exact match 3", "test-3"), "check-for-exact-match-3");
        assert_eq!(ids.next("check for exact match", "test-4"), "check-for-exact-match-4");
        assert_eq!(ids.next("?!", "test-3"), "test-3");
        assert!(ids.next(&"long ".repeat(50), "x").chars().count() <= LONGEST);
    }
}
