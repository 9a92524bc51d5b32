//! What became of each entry of a source.

use std::collections::HashMap;
use std::fmt;

use evalsuite_loader::document::Value;

/// What became of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The suite has the same.
    Mapped,
    /// The suite has something that is not quite the same. No verdict changes by it.
    Approximated,
    /// The suite has something whose verdict may be another one.
    Different,
    /// The suite does not have it.
    Dropped,
}

impl Outcome {
    /// The word of reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Mapped => "mapped",
            Self::Approximated => "approximated",
            Self::Different => "different",
            Self::Dropped => "dropped",
        }
    }
}

/// An entry of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceEntry {
    /// Its file, relative to the directory of the source.
    pub file: String,
    /// Its line, counted from 1; 0 for a file as a whole.
    pub line: u32,
    /// Which it is: keys and indices, with its type.
    pub name: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Why it is not mapped as it is, each once.
    pub reasons: Vec<String>,
}

/// What became of the entries of a source, in the order in which they were met.
#[derive(Debug, Clone, Default)]
pub struct Report {
    entries: Vec<SourceEntry>,
    index: HashMap<Place, usize>,
}

/// Where an entry is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) name: String,
}

impl Place {
    pub(crate) fn new(file: impl Into<String>, line: u32, name: impl Into<String>) -> Self {
        Self { file: file.into(), line, name: name.into() }
    }

    /// A place in the same file, below this one; without a line if this one has none.
    pub(crate) fn below(&self, line: u32, name: &str) -> Self {
        let dot = if self.name.is_empty() || name.starts_with('[') { "" } else { "." };
        let line = if self.line == 0 { 0 } else { line };
        Self { file: self.file.clone(), line, name: format!("{}{dot}{name}", self.name) }
    }

    /// The entries of a mapping that is at this place, each with its own place.
    pub(crate) fn entries<'v>(&self, mapping: &'v Value) -> impl Iterator<Item = (&'v str, &'v Value, Self)> {
        let entries = mapping.entries().iter();
        entries.map(|(key, value)| (key.as_str(), value, self.below(value.position.line, key)))
    }

    /// The items of a list that is at this place, each with its own place.
    pub(crate) fn items<'v>(&self, list: &'v Value) -> impl Iterator<Item = (&'v Value, Self)> {
        let items = list.items().unwrap_or_default().iter().enumerate();
        items.map(|(index, item)| (item, self.below(item.position.line, &format!("[{index}]"))))
    }
}

impl Report {
    /// All entries.
    pub fn entries(&self) -> &[SourceEntry] {
        &self.entries
    }

    /// Number of entries with this outcome.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.entries.iter().filter(|entry| entry.outcome == outcome).count()
    }

    pub(crate) fn mapped(&mut self, place: &Place) {
        self.add(place, Outcome::Mapped, "");
    }

    pub(crate) fn approximated(&mut self, place: &Place, reason: impl Into<String>) {
        self.add(place, Outcome::Approximated, reason);
    }

    /// The verdict may be another one.
    pub(crate) fn different(&mut self, place: &Place, reason: impl Into<String>) {
        self.add(place, Outcome::Different, reason);
    }

    pub(crate) fn dropped(&mut self, place: &Place, reason: impl Into<String>) {
        self.add(place, Outcome::Dropped, reason);
    }

    /// The value, unless there is a reason for which the entry at this place is dropped.
    pub(crate) fn kept<T>(&mut self, place: &Place, result: Result<T, String>) -> Option<T> {
        result.map_err(|reason| self.dropped(place, reason)).ok()
    }

    /// Adds the entries of another report that are not mapped.
    pub(crate) fn add_losses(&mut self, other: &Self) {
        for entry in other.entries.iter().filter(|entry| entry.outcome != Outcome::Mapped) {
            let place = Place::new(entry.file.clone(), entry.line, entry.name.clone());
            entry.reasons.iter().for_each(|reason| self.add(&place, entry.outcome, reason));
        }
    }

    /// An entry that is met several times, as one of many cases, is listed once with its worst outcome. An empty reason is none.
    pub(crate) fn add(&mut self, place: &Place, outcome: Outcome, reason: impl Into<String>) {
        let index = *self.index.entry(place.clone()).or_insert(self.entries.len());
        if index == self.entries.len() {
            let Place { file, line, name } = place.clone();
            self.entries.push(SourceEntry { file, line, name, outcome, reasons: Vec::new() });
        }
        let (entry, reason) = (&mut self.entries[index], reason.into());
        entry.outcome = entry.outcome.max(outcome);
        if !reason.is_empty() && !entry.reasons.contains(&reason) {
            entry.reasons.push(reason);
        }
    }
}

impl fmt::Display for SourceEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.line == 0 { self.file.clone() } else { format!("{}:{}", self.file, self.line) };
        write!(f, "{:<12} {place}", self.outcome.word())?;
        if self.name != place {
            write!(f, ": {}", self.name)?;
        }
        if self.reasons.is_empty() { Ok(()) } else { write!(f, ": {}", self.reasons.join("; ")) }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries.iter().try_for_each(|entry| writeln!(f, "{entry}"))?;
        let outcomes = [Outcome::Mapped, Outcome::Approximated, Outcome::Different, Outcome::Dropped];
        f.write_str(&outcomes.map(|outcome| format!("{} {}", self.count(outcome), outcome.word())).join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_listed_once_with_its_worst_outcome() {
        let mut report = Report::default();
        let place = Place::new("a.yaml", 3, "tests[0]").below(4, "assert").below(5, "[1]");
        report.mapped(&place);
        report.approximated(&place, "blanks");
        report.approximated(&place, "blanks");
        report.mapped(&Place::new("a.yaml", 1, "description"));
        assert_eq!(
            report.to_string(),
            "approximated a.yaml:5: tests[0].assert[1]: blanks\nmapped       a.yaml:1: description\n\
             1 mapped, 1 approximated, 0 different, 0 dropped"
        );
    }
}
