//! Settings of each type of grader, as snippets of YAML and the problems reported in them.

mod code;
mod composite;
mod constant;
mod field_accuracy;
mod json_schema;
mod judge;
mod metrics;
mod reference;
mod text;
mod trajectory;

use evalsuite_schema::grader::{Grader, GraderConfig};

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
