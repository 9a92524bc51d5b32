//! Settings of each type of grader, as snippets of YAML and the problems reported in them.

mod json_schema;
mod judge;
mod text;
mod trajectory;

use std::collections::BTreeSet;

use evalsuite_schema::grader::{BUILT_IN, Grader, GraderConfig};

use crate::diagnostic::Diagnostics;
use crate::graders::{ParsedGrader, assertions};
use crate::tests::Package;

impl Package {
    /// Reads a list of assertions.
    pub(crate) fn read(&self, yaml: &str) -> (Vec<ParsedGrader>, Diagnostics) {
        let mut d = Diagnostics::new();
        let parsed = assertions::read(&self.node(yaml), self.scope(), &mut d);
        (parsed, d)
    }
}

/// The graders of a list that must be without problems.
#[track_caller]
pub(crate) fn graders(yaml: &str) -> Vec<Grader> {
    let package = Package::new(&[]);
    let (parsed, d) = package.read(yaml);
    assert_eq!(package.lines(&d), Vec::<String>::new(), "{yaml} is read without problems");
    parsed.into_iter().map(|parsed| parsed.grader).collect()
}

/// The settings of the only grader of a list without problems.
#[track_caller]
pub(crate) fn config(entry: &str) -> GraderConfig {
    graders(&format!("- {entry}")).remove(0).config
}

/// All problems of one entry in a package without files; columns count from the entry's start plus 2.
#[track_caller]
pub(crate) fn problems(entry: &str) -> Vec<String> {
    let package = Package::new(&[]);
    let (parsed, d) = package.read(&format!("- {entry}"));
    assert_eq!(parsed.len(), 1, "an entry stays an entry");
    package.lines(&d)
}

/// Checks a table of entries and their problems.
#[track_caller]
pub(crate) fn check(table: &[(&str, &[&str])]) {
    for (entry, expected) in table {
        assert_eq!(problems(entry), *expected, "problems of {entry}");
    }
}

#[test]
fn every_built_in_has_an_example_that_is_read_without_problems() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/graders.md");
    let reference = std::fs::read_to_string(path).expect("the reference");
    let package = Package::new(&[
        ("suite/refund.schema.json", r#"{"type": "object"}"#),
        ("suite/graders/totals.py", "print('fine')"),
    ]);
    let mut shown = BTreeSet::new();
    for row in reference.lines().filter(|line| line.contains(" | `{ type: ")) {
        let cells: Vec<&str> = row.trim_matches([' ', '|']).split(" | ").map(|cell| cell.trim_matches('`')).collect();
        let [linked, example] = cells[..] else { panic!("two cells: {row}") };
        let (parsed, d) = package.read(&format!("[{example}]"));
        assert_eq!(package.lines(&d), Vec::<String>::new(), "{example}");
        let name = parsed[0].grader.config.type_name();
        assert_eq!(linked, format!("[`{name}`](#{name})"));
        shown.insert(name.to_owned());
    }
    assert_eq!(shown, BUILT_IN.iter().map(|name| (*name).to_owned()).collect());
}
