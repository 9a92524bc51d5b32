//! A suite that is being made: its settings, its cases with their ids, and the files that they use.

use std::collections::{BTreeSet, HashMap};

use evalsuite_loader::document::{Data, Document, Value};

use crate::output::Output;
use crate::report::Place;
use crate::yaml_writer;

/// Where a suite with an eval file has its cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CasePlacement {
    /// In `tests` of EVAL.yaml.
    File,
    /// In `cases/ID/case.yaml`.
    Directories,
}

/// A suite that is being made.
#[derive(Debug, Default)]
pub(crate) struct SuiteDraft {
    /// What EVAL.yaml says, without `tests`.
    pub(crate) settings: Vec<(String, Value)>,
    /// The cases by id; an entry `id` is added.
    pub(crate) cases: Vec<(String, CaseDraft)>,
    /// Comments above the cases, and after the last one.
    pub(crate) above: Vec<String>,
    pub(crate) end: Vec<String>,
    /// Other files.
    pub(crate) output: Output,
}

/// A case that is being made.
#[derive(Debug, Clone, Default)]
pub(crate) struct CaseDraft {
    pub(crate) entries: Vec<(String, Value)>,
    /// Comments above the case.
    pub(crate) above: Vec<String>,
    /// Where it is written.
    pub(crate) place: Place,
}

impl SuiteDraft {
    /// The files of the suite in a layout.
    pub(crate) fn write_as(mut self, layout: CasePlacement) -> Output {
        let tests = match layout {
            CasePlacement::File => {
                let case = |(id, case): (String, CaseDraft)| {
                    let mut entries = vec![("id".to_owned(), Value::text(id))];
                    entries.extend(case.entries);
                    Value { above: case.above, ..Value::new(Data::Mapping(entries)) }
                };
                Value::new(Data::List(self.cases.into_iter().map(case).collect()))
            }
            CasePlacement::Directories => {
                for (id, case) in self.cases {
                    let mut entries = case.entries;
                    if let Some((_, first)) = entries.first_mut() {
                        first.above.splice(0..0, case.above);
                    }
                    self.output.add(format!("cases/{id}/case.yaml"), mapping(entries, Vec::new()));
                }
                Value::text("./cases/")
            }
        };
        self.settings.push(("tests".to_owned(), Value { above: self.above, ..tests }));
        self.output.add("EVAL.yaml", mapping(self.settings, self.end));
        self.output
    }
}

/// The text of a file that holds a mapping.
pub(crate) fn mapping(entries: Vec<(String, Value)>, end: Vec<String>) -> String {
    yaml_writer::write(&Document { root: Value::new(Data::Mapping(entries)), end })
}

/// An entry without comments.
pub(crate) fn entry(key: &str, value: impl Into<evalsuite_schema::Value>) -> (String, Value) {
    (key.to_owned(), Value::from(value.into()))
}

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
