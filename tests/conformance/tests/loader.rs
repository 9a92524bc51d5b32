//! `loader.jsonl`: every record results in the recorded tests, or in a difference that `docs/compatibility.md` lists. The
//! records about single graders are run through the loader, too, and so are our own in `records/`, one for each listed
//! difference that no other record shows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use evalsuite_conformance::comparison::Comparison;
use evalsuite_conformance::record::Line;
use evalsuite_conformance::test_data::Vectors;
use evalsuite_conformance::{comparison, documented_rules, grader_record, record};
use libtest_mimic::{Arguments, Failed, Trial};

/// The section of docs/compatibility.md that lists the differences.
const SECTION: &str = "Differences in what is loaded";

/// The file whose records are whole suites.
const SUITES: &str = "loader";
/// The files whose records are about one grader.
const GRADERS: &[&str] = &["graders", "code_grader", "rubrics"];
/// Prefix of the tests of our own records, which are whole suites.
const OWN: &str = "own";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    match Vectors::find().and_then(|vectors| tests(&vectors)) {
        Ok(tests) => libtest_mimic::run(&arguments, tests).exit_code(),
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

/// A test per suite, and one per kind of grader.
fn tests(vectors: &Vectors) -> Result<Vec<Trial>, String> {
    let mut all: Vec<(&'static str, Line)> = Vec::new();
    let mut tests = Vec::new();
    for line in vectors.lines(SUITES)? {
        all.push((SUITES, line.clone()));
        tests.push(Trial::test(format!("{SUITES}::{}", line.id), move || check_lines(&[(SUITES, line)])));
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("records").join("differences.jsonl");
    for line in record::lines(&own)? {
        all.push((OWN, line.clone()));
        tests.push(Trial::test(format!("{OWN}::{}", line.id), move || check_lines(&[(OWN, line)])));
    }
    for name in GRADERS {
        let mut kinds: BTreeMap<String, Vec<(&'static str, Line)>> = BTreeMap::new();
        for line in vectors.lines(name)? {
            all.push((*name, line.clone()));
            kinds.entry(line.kind().to_owned()).or_default().push((*name, line));
        }
        tests.extend(
            kinds.into_iter().map(|(kind, lines)| Trial::test(format!("{name}::{kind}"), move || check_lines(&lines))),
        );
    }
    // Other records may show other rules.
    if !vectors.is_other {
        let all = Arc::new(all);
        tests.push(Trial::test("every_documented_difference_occurs", move || every_documented_rule_occurs(&all)));
    }
    Ok(tests)
}

fn compare(file: &str, line: &Line) -> Result<Comparison, String> {
    let record = line.record()?;
    comparison::check(&if GRADERS.contains(&file) { grader_record::suite(record)? } else { record })
}

fn check_lines(lines: &[(&str, Line)]) -> Result<(), Failed> {
    let documented = documented_rules::in_section(SECTION)?;
    let mut problems = Vec::new();
    for (file, line) in lines {
        let comparison = compare(file, line)?;
        problems.extend(comparison.unexplained.iter().map(|problem| format!("{}: {problem}", line.id)));
        for (rule, what) in comparison.rules.iter().filter(|(rule, _)| !documented.contains(**rule)) {
            problems.push(format!("{}: docs/compatibility.md does not list `{rule}`: {what}", line.id));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

fn every_documented_rule_occurs(lines: &[(&str, Line)]) -> Result<(), Failed> {
    let documented = documented_rules::in_section(SECTION)?;
    let mut needed = BTreeSet::new();
    for (file, line) in lines {
        needed.extend(compare(file, line)?.rules.into_keys());
    }
    let unused: Vec<&String> = documented.iter().filter(|rule| !needed.contains(rule.as_str())).collect();
    if unused.is_empty() {
        Ok(())
    } else {
        Err(format!("no record shows these documented differences: {unused:?}").into())
    }
}
