//! `loader.jsonl`: every record gives the recorded tests, or a difference that `docs/compatibility.md` lists.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;

use evalsuite_conformance::check;
use evalsuite_conformance::documented;
use evalsuite_conformance::folders::{self, Folder};
use evalsuite_conformance::record::{self, Record};
use libtest_mimic::{Arguments, Failed, Trial};

/// The section of the page that lists the differences.
const SECTION: &str = "Differences in what is loaded";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let (path, is_other) = match folders::find("EVALSUITE_VECTORS", "../shared/vectors") {
        Folder::There { path, is_other } => (path.join("loader.jsonl"), is_other),
        Folder::Absent(reason) => {
            eprintln!("skipped: {reason}");
            return libtest_mimic::run(&arguments, Vec::new()).exit_code();
        }
        Folder::Missing(reason) => {
            eprintln!("{reason}");
            return ExitCode::FAILURE;
        }
    };
    let records = match record::read(&path) {
        Ok(records) => Arc::new(records),
        Err(reason) => {
            eprintln!("{reason}");
            return ExitCode::FAILURE;
        }
    };
    let mut tests: Vec<Trial> = (0..records.len())
        .map(|index| {
            let all = Arc::clone(&records);
            Trial::test(format!("loader::{}", records[index].id), move || one(&all[index]))
        })
        .collect();
    // Other records need other rules.
    if !is_other {
        tests.push(Trial::test("every_documented_difference_occurs", move || every_rule_occurs(&records)));
    }
    libtest_mimic::run(&arguments, tests).exit_code()
}

fn one(record: &Record) -> Result<(), Failed> {
    let verdict = check::check(record)?;
    let documented = documented::rules(SECTION)?;
    let mut problems = verdict.unexplained;
    for (rule, what) in verdict.rules.iter().filter(|(rule, _)| !documented.contains(**rule)) {
        problems.push(format!("docs/compatibility.md does not list `{rule}`: {what}"));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

fn every_rule_occurs(records: &[Record]) -> Result<(), Failed> {
    let documented = documented::rules(SECTION)?;
    let mut needed = BTreeSet::new();
    for record in records {
        needed.extend(check::check(record)?.rules.into_keys());
    }
    let unused: Vec<&String> = documented.iter().filter(|rule| !needed.contains(rule.as_str())).collect();
    if unused.is_empty() {
        Ok(())
    } else {
        Err(format!("no record shows these documented differences: {unused:?}").into())
    }
}
