//! Combines problems with one cause at several places.

use std::collections::{BTreeSet, HashMap};

use crate::diagnostics::counted;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Related, SourceRange};

/// What is said about the places of a group after the first one.
const ALSO_HERE: &str = "also here";

/// Most places that are printed of those that follow the first one.
const SHOWN: usize = 6;

impl Diagnostics {
    /// Combines problems with one cause: the first one remains, with their number and with the places of the others as
    /// related places. The order does not change.
    #[must_use]
    pub fn grouped(self) -> Self {
        let mut result = self.without_list();
        let mut groups: Vec<(Diagnostic, Vec<Related>)> = Vec::new();
        let mut first: HashMap<(Code, String), usize> = HashMap::new();
        for diagnostic in self {
            let can_be_grouped =
                diagnostic.code.has_one_cause() && diagnostic.place.is_some() && diagnostic.related.is_empty();
            if can_be_grouped {
                let index = *first.entry((diagnostic.code, diagnostic.message.clone())).or_insert(groups.len());
                if let Some((_, others)) = groups.get_mut(index) {
                    others.extend(also_here(diagnostic));
                    continue;
                }
            }
            groups.push((diagnostic, Vec::new()));
        }
        groups.into_iter().for_each(|(diagnostic, others)| result.push(grouped(diagnostic, others)));
        result
    }

    /// One problem per place, as before [`grouped`](Self::grouped), in the order of groups.
    #[must_use]
    pub fn ungrouped(self) -> Self {
        self.into_iter().flat_map(ungrouped).collect()
    }
}

fn ungrouped(mut diagnostic: Diagnostic) -> Vec<Diagnostic> {
    let (others, related): (Vec<Related>, Vec<Related>) =
        std::mem::take(&mut diagnostic.related).into_iter().partition(|related| related.message == ALSO_HERE);
    diagnostic.related = related;
    if let Some(message) = diagnostic.message.strip_suffix(&times(others.len())) {
        diagnostic.message.truncate(message.len());
    }
    let alone = |other: Related| Diagnostic { place: Some(other.place), fix: other.fix, ..diagnostic.clone() };
    let others: Vec<Diagnostic> = others.into_iter().map(alone).collect();
    std::iter::once(diagnostic).chain(others).collect()
}

/// What the message of a group ends with.
fn times(others: usize) -> String {
    format!(" ({} times)", others + 1)
}

fn grouped(mut diagnostic: Diagnostic, others: Vec<Related>) -> Diagnostic {
    if !others.is_empty() {
        diagnostic.message.push_str(&times(others.len()));
    }
    diagnostic.related.extend(others);
    diagnostic
}

/// Another place with the same problem, without its line: the first place shows what is there.
fn also_here(diagnostic: Diagnostic) -> Option<Related> {
    let place = SourceRange { excerpt: None, ..diagnostic.place? };
    Some(Related { place, message: ALSO_HERE.to_owned(), fix: diagnostic.fix })
}

/// The text of related places without the lines of their files, one line each. If there are many, the last line gives
/// the number of the others.
pub fn notes<'r>(related: impl IntoIterator<Item = &'r Related>) -> Vec<String> {
    let related: Vec<&Related> = related.into_iter().collect();
    let (shown, rest) = related.split_at(related.len().min(SHOWN));
    let mut notes: Vec<String> = shown
        .iter()
        .map(|related| format!("{}: {}", related.place, crate::diagnostics::terminal::short_line(&related.message)))
        .collect();
    if !rest.is_empty() {
        let files: BTreeSet<&str> = rest.iter().map(|related| related.place.file.as_str()).collect();
        notes.push(format!("and {} more in {}", rest.len(), counted(files.len(), "file")));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Location;

    fn unknown_key(file: &str, line: u32) -> Diagnostic {
        Diagnostic::new(Code::UnknownKey, "unknown key `asserts`").at(Location::new(file, line, 1)).help("delete it")
    }

    #[test]
    fn problems_with_one_cause_are_one_problem_with_all_places() {
        let wrong_type = |line| Diagnostic::new(Code::WrongType, "a number").at(Location::new("a.yaml", line, 1));
        let mut all: Diagnostics = (1..=9).map(|line| unknown_key("a.yaml", line)).collect();
        all.push(wrong_type(3));
        all.push(wrong_type(4));
        all.push(unknown_key("b.yaml", 1));
        all.push(Diagnostic::new(Code::UnknownKey, "unknown key `other`").at(Location::new("b.yaml", 2, 1)));
        let grouped: Vec<Diagnostic> = all.grouped().into_iter().collect();
        let messages: Vec<&str> = grouped.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
        assert_eq!(
            messages,
            ["unknown key `asserts` (10 times)", "a number", "a number", "unknown key `other`"],
            "each of the numbers has to be edited by itself"
        );
        assert_eq!(grouped[0].related.len(), 9, "no place is lost");
        let text = grouped[0].to_string();
        assert!(text.contains(" --> a.yaml:1:1\n  = note: a.yaml:2:1: also here\n"), "{text}");
        assert!(
            text.ends_with("a.yaml:7:1: also here\n  = note: and 3 more in 2 files\n  = help: delete it"),
            "{text}"
        );
    }

    #[test]
    fn a_group_can_be_taken_apart() {
        let all: Diagnostics = (1..=3).map(|line| unknown_key("a.yaml", line)).collect();
        assert_eq!(all.clone().grouped().ungrouped(), all);
        assert_eq!(all.clone().ungrouped(), all);
    }

    #[test]
    fn grouping_again_changes_nothing() {
        let once = (1..=3).map(|line| unknown_key("a.yaml", line)).collect::<Diagnostics>().grouped();
        assert_eq!(once.clone().grouped(), once);
    }
}
