//! Ids that are derived from what they identify: a second export has the same.

use std::collections::HashSet;

use evalsuite_schema::digest::hexadecimal;
use hmac_sha256::Hash;

use crate::run_data::{CaseData, RunData, SuiteData, TrialData};

/// The first `digits` digits, at most 64, of a hexadecimal SHA-256 over the parts and their lengths.
pub(super) fn id(digits: usize, parts: &[&str]) -> String {
    let mut digest = Hash::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    let mut id = hexadecimal(digest.finalize());
    id.truncate(digits);
    id
}

/// The path of a trial, which identifies it in its run, with `/` separators.
pub(crate) fn trial_path(trial: &TrialData) -> String {
    trial.directory.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The suites and targets of a run that have cases, in the order in which they first occur, with their cases.
pub(super) fn suites_and_targets<'a>(run: &'a RunData) -> Vec<(&'a str, &'a str, Vec<&'a CaseData>)> {
    let of = |suite: &'a SuiteData| {
        suite.by_target().into_iter().map(|(target, cases)| (suite.name.as_str(), target, cases))
    };
    run.suites.iter().flat_map(of).collect()
}

/// The names with a number added to those that occurred before.
pub(super) fn unique<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    let mut free = |name: &str| {
        let candidates = std::iter::once(name.to_owned()).chain((2..).map(|number| format!("{name} ({number})")));
        candidates.into_iter().find(|candidate| taken.insert(candidate.clone())).expect("numbers do not end")
    };
    names.into_iter().map(&mut free).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_depend_on_every_part_and_its_length() {
        assert_eq!(id(8, &["a", "b"]), id(8, &["a", "b"]));
        assert_eq!(id(64, &["a"]).len(), 64);
        assert_ne!(id(64, &["ab", "c"]), id(64, &["a", "bc"]));
    }

    #[test]
    fn names_that_repeat_are_numbered() {
        assert_eq!(unique(["a", "b", "a", "a (2)", "a"]), ["a", "b", "a (2)", "a (2) (2)", "a (3)"]);
    }
}
