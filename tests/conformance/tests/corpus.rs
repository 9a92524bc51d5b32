//! Real suites: each loads with the number of tests and graders its manifest says, or has errors that are right about it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use evalsuite_conformance::corpus::{self, Entry};
use evalsuite_conformance::documented;
use evalsuite_conformance::folders::{self, Folder};
use evalsuite_schema::diagnostic::Severity;
use libtest_mimic::{Arguments, Failed, Trial};

/// The section of the page that lists what is wrong with which suite.
const SECTION: &str = "Real suites";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let (folder, is_other) = match folders::find("EVALSUITE_CORPUS", "../shared/corpus") {
        Folder::There { path, is_other } => (path, is_other),
        Folder::Absent(reason) => {
            eprintln!("skipped: {reason}");
            return libtest_mimic::run(&arguments, Vec::new()).exit_code();
        }
        Folder::Missing(reason) => {
            eprintln!("{reason}");
            return ExitCode::FAILURE;
        }
    };
    let entries = match corpus::entries(&folder) {
        Ok(entries) => entries,
        Err(reason) => {
            eprintln!("{reason}");
            return ExitCode::FAILURE;
        }
    };
    let mut tests = Vec::new();
    for entry in &entries {
        let entry = entry.clone();
        tests.push(Trial::test(format!("corpus::{}", entry.name()), move || one(&entry, is_other)));
    }
    for suite in corpus::task_suites(&folder) {
        let name = suite.strip_prefix(&folder).unwrap_or(&suite).display().to_string();
        tests.push(Trial::test(format!("corpus::{name}"), move || task_suite(&suite)));
    }
    if !is_other {
        tests.push(Trial::test("every_listed_suite_has_its_defects", move || every_defect_occurs(&entries)));
    }
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// Errors of a suite by code, each checked.
fn errors(entry: &Entry) -> Result<(corpus::Outcome, BTreeMap<&'static str, Vec<String>>), Failed> {
    let outcome = corpus::load(entry)?;
    let mut errors: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    for diagnostic in outcome.loaded.diagnostics.iter().filter(|diagnostic| diagnostic.severity() == Severity::Error) {
        let place = diagnostic.place.as_ref().expect("problems of files have a place");
        let (shown, line) = (&place.file, place.start().map_or(1, |start| start.line));
        errors.entry(diagnostic.code.name()).or_default().push(format!("{shown}:{line}: {}", diagnostic.message));
    }
    Ok((outcome, errors))
}

fn one(entry: &Entry, is_other: bool) -> Result<(), Failed> {
    let (outcome, errors) = errors(entry)?;
    let mut problems = outcome.untrue.clone();
    if errors.is_empty() {
        let suite = outcome.loaded.suite.as_ref().ok_or("there is neither a suite nor an error")?;
        let found = corpus::count(suite);
        if found != entry.expected {
            problems.push(format!("the manifest says {:?}, we have {found:?}", entry.expected));
        }
    } else if !is_other {
        let documented = documented::rules(SECTION)?;
        for (code, found) in &errors {
            let listed = format!("{} {code}", entry.suite);
            if !documented.contains(&listed) {
                problems.push(format!("docs/compatibility.md does not list `{listed}`: {found:?}"));
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

fn task_suite(suite: &Path) -> Result<(), Failed> {
    let (expected, found) = corpus::count_tasks(suite)?;
    if expected == found { Ok(()) } else { Err(format!("{expected} task files, {found} tests").into()) }
}

fn every_defect_occurs(entries: &[Entry]) -> Result<(), Failed> {
    let mut unused = documented::rules(SECTION)?;
    for entry in entries {
        let (_, errors) = errors(entry)?;
        for code in errors.keys() {
            unused.remove(&format!("{} {code}", entry.suite));
        }
    }
    if unused.is_empty() { Ok(()) } else { Err(format!("these defects are listed and not found: {unused:?}").into()) }
}
