//! `loader.jsonl`: every record gives the recorded tests, or a difference that `docs/compatibility.md` lists. The records
//! about single graders are run through the loader, too, and so are our own of `records/`, one for each listed difference
//! that the others do not show.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use evalsuite_conformance::check::{self, Verdict};
use evalsuite_conformance::documented;
use evalsuite_conformance::folders::{self, Folder};
use evalsuite_conformance::grader_record;
use evalsuite_conformance::record::{self, Line};
use libtest_mimic::{Arguments, Failed, Trial};

/// The section of the page that lists the differences.
const SECTION: &str = "Differences in what is loaded";

/// The file whose records are whole suites, and those whose records are about one grader.
const SUITES: &str = "loader";
const GRADERS: &[&str] = &["graders", "code_grader", "rubrics"];
/// Our own records, which are whole suites.
const OWN: &str = "own";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let (folder, is_other) = match folders::find("EVALSUITE_VECTORS", "../shared/vectors") {
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
    match tests(&folder, is_other) {
        Ok(tests) => libtest_mimic::run(&arguments, tests).exit_code(),
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

/// A test per suite, and one per kind of grader.
fn tests(folder: &Path, is_other: bool) -> Result<Vec<Trial>, String> {
    let mut all: Vec<(&'static str, Line)> = Vec::new();
    let mut tests = Vec::new();
    for line in record::lines(&folder.join(format!("{SUITES}.jsonl")))? {
        all.push((SUITES, line.clone()));
        tests.push(Trial::test(format!("{SUITES}::{}", line.id), move || every(&[(SUITES, line)])));
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("records").join("differences.jsonl");
    for line in record::lines(&own)? {
        all.push((OWN, line.clone()));
        tests.push(Trial::test(format!("{OWN}::{}", line.id), move || every(&[(OWN, line)])));
    }
    for name in GRADERS {
        let path = folder.join(format!("{name}.jsonl"));
        // A folder of other records need not have them all.
        if is_other && !path.is_file() {
            continue;
        }
        let mut kinds: BTreeMap<String, Vec<(&'static str, Line)>> = BTreeMap::new();
        for line in record::lines(&path)? {
            all.push((*name, line.clone()));
            kinds.entry(line.kind().to_owned()).or_default().push((*name, line));
        }
        tests.extend(
            kinds.into_iter().map(|(kind, lines)| Trial::test(format!("{name}::{kind}"), move || every(&lines))),
        );
    }
    // Other records need other rules.
    if !is_other {
        let all = Arc::new(all);
        tests.push(Trial::test("every_documented_difference_occurs", move || every_rule_occurs(&all)));
    }
    Ok(tests)
}

fn verdict(file: &str, line: &Line) -> Result<Verdict, String> {
    let record = line.record()?;
    check::check(&if GRADERS.contains(&file) { grader_record::suite(record)? } else { record })
}

fn every(lines: &[(&str, Line)]) -> Result<(), Failed> {
    let documented = documented::rules(SECTION)?;
    let mut problems = Vec::new();
    for (file, line) in lines {
        let verdict = verdict(file, line)?;
        problems.extend(verdict.unexplained.iter().map(|problem| format!("{}: {problem}", line.id)));
        for (rule, what) in verdict.rules.iter().filter(|(rule, _)| !documented.contains(**rule)) {
            problems.push(format!("{}: docs/compatibility.md does not list `{rule}`: {what}", line.id));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

fn every_rule_occurs(lines: &[(&str, Line)]) -> Result<(), Failed> {
    let documented = documented::rules(SECTION)?;
    let mut needed = BTreeSet::new();
    for (file, line) in lines {
        needed.extend(verdict(file, line)?.rules.into_keys());
    }
    let unused: Vec<&String> = documented.iter().filter(|rule| !needed.contains(rule.as_str())).collect();
    if unused.is_empty() {
        Ok(())
    } else {
        Err(format!("no record shows these documented differences: {unused:?}").into())
    }
}
