//! `graders.jsonl`, `code_grader.jsonl`, `rubrics.jsonl`, `scoring.jsonl`, `trials.jsonl`, and the records of `loader.jsonl` whose
//! suite was run: every record results in the recorded grades, or in a difference that `docs/grading-differences.md` lists.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, ExitCode};

use evalsuite_conformance::record::{Line, Record};
use evalsuite_conformance::test_data::Vectors;
use evalsuite_grading_tests::documented_differences::DocumentedDifferences;
use evalsuite_grading_tests::graders::RecordCheck;
use evalsuite_grading_tests::{
    conversations, dependents, documented_differences, grader_rules, graders, payload, scoring, trials,
};
use libtest_mimic::{Arguments, Failed, Trial};

/// Id of the record to run in this process, which has the record's environment variables.
const RECORD_ID_VARIABLE: &str = "TEST_GRADING_RECORD";

const MANIFEST_DIR_VARIABLE: &str = "CARGO_MANIFEST_DIR";

/// A program that some records start.
const PYTHON: &str = "python3";

type Check = fn(&Record) -> Result<RecordCheck, String>;

const FILES: &[(&str, Check)] = &[
    ("graders", graders::check),
    ("code_grader", graders::check),
    ("rubrics", graders::check),
    ("scoring", scoring::check),
    ("trials", trials::check),
    (SUITES, dependents::check),
];

/// The file whose records are whole suites, some of which were run.
const SUITES: &str = "loader";

fn main() -> ExitCode {
    // Test runners set the variable to this crate's directory, where the runtime would look for the suites of records.
    if std::env::var_os(MANIFEST_DIR_VARIABLE).is_some() {
        return run_without_package().unwrap_or_else(|reason| failed(&reason));
    }
    let ended = Vectors::find().and_then(|vectors| match std::env::var(RECORD_ID_VARIABLE) {
        Ok(id) => run_single_record(&vectors, &id).map(|()| ExitCode::SUCCESS),
        Err(_) => Ok(libtest_mimic::run(&Arguments::from_args(), tests(&vectors)?).exit_code()),
    });
    ended.unwrap_or_else(|reason| failed(&reason))
}

/// Runs this program again without the variable that names this package.
fn run_without_package() -> Result<ExitCode, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let status = Command::new(program).args(std::env::args_os().skip(1)).env_remove(MANIFEST_DIR_VARIABLE).status();
    let status = status.map_err(|error| error.to_string())?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn failed(reason: &str) -> ExitCode {
    eprintln!("{reason}");
    ExitCode::FAILURE
}

/// A test per kind of record, and one for the table.
fn tests(vectors: &Vectors) -> Result<Vec<Trial>, String> {
    let is_other = vectors.is_other;
    // On a CI server, the records that start it fail without it.
    let lacks_python = std::env::var_os("CI").is_none() && Command::new(PYTHON).arg("--version").output().is_err();
    let mut tests = Vec::new();
    for (file, check) in FILES {
        let mut kinds: BTreeMap<String, Vec<Line>> = BTreeMap::new();
        for line in vectors.lines(file)?.into_iter().filter(|line| *file != SUITES || line.contains("\"run\":")) {
            kinds.entry(line.kind().to_owned()).or_default().push(line);
        }
        for (kind, mut lines) in kinds {
            if lacks_python {
                let all = lines.len();
                lines.retain(|line| !line.contains(PYTHON));
                if lines.len() < all {
                    let ignored = Trial::test(format!("{file}::{kind}: needs {PYTHON}"), || Ok(()));
                    tests.push(ignored.with_ignored_flag(true));
                }
            }
            tests.push(Trial::test(format!("{file}::{kind}"), move || check_lines(&lines, *check, is_other)));
        }
    }
    tests.push(Trial::test("the_table_lists_every_rule", the_table_lists_every_rule));
    Ok(tests)
}

fn check_lines(lines: &[Line], check: Check, is_other: bool) -> Result<(), Failed> {
    let table = documented_differences::read()?;
    let mut problems = Vec::new();
    for line in lines {
        let record = line.record()?;
        let found = if record.env.is_empty() {
            check_record(&record, check, &table, is_other)
        } else {
            run_in_child_process(&record)
        };
        if let Err(problem) = found {
            problems.push(format!("{}: {problem}", line.id));
        }
    }
    let count = problems.len();
    if count == 0 { Ok(()) } else { Err(format!("{count} records\n{}", problems.join("\n")).into()) }
}

/// A difference has to be listed with the rules that explain it, or with a reason in plain text; a listed record has to
/// differ. The table lists no ids of records that we have not seen.
fn check_record(record: &Record, check: Check, table: &DocumentedDifferences, is_other: bool) -> Result<(), String> {
    let checked = check(record)?;
    if let Some(rule) = checked.rules.iter().find(|rule| !table.rules.iter().any(|listed| listed == *rule)) {
        return Err(format!("the table does not list the rule `{rule}`"));
    }
    let rules = checked.rules.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match table.ids.get(&record.id) {
        Some(reason) if !reason.starts_with('"') || checked.unexplained.is_empty() => {
            if !checked.unexplained.is_empty() {
                return Err(checked.unexplained.join("\n"));
            }
            if rules.is_empty() {
                return Err("is listed, but does not differ".to_owned());
            }
            if *reason == rules { Ok(()) } else { Err(format!("is listed with {reason}, but differs by {rules}")) }
        }
        // Listed with a reason in plain text.
        Some(_) => Ok(()),
        None if !checked.unexplained.is_empty() => Err(checked.unexplained.join("\n")),
        None if rules.is_empty() || is_other => Ok(()),
        None => Err(format!("differs, but is not listed: {}: {rules}", record.id)),
    }
}

fn run_in_child_process(record: &Record) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let run = Command::new(program).env(RECORD_ID_VARIABLE, &record.id).envs(&record.env).output();
    let output = run.map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

fn run_single_record(vectors: &Vectors, id: &str) -> Result<(), String> {
    let table = documented_differences::read()?;
    for (file, check) in FILES {
        if let Some(line) = vectors.lines(file)?.iter().find(|line| line.id == id) {
            return check_record(&line.record()?, *check, &table, vectors.is_other);
        }
    }
    Err(format!("no record is called {id}"))
}

fn the_table_lists_every_rule() -> Result<(), Failed> {
    let listed: BTreeSet<String> = documented_differences::read()?.rules.into_iter().collect();
    let names = grader_rules::all()
        .chain(payload::all())
        .chain(scoring::RULES.iter().copied())
        .chain(conversations::RULES.iter().copied())
        .chain(trials::RULES.iter().copied())
        .chain(dependents::RULES.iter().copied());
    let known: BTreeSet<String> = names.map(str::to_owned).collect();
    if listed == known {
        return Ok(());
    }
    let differ: Vec<&String> = listed.symmetric_difference(&known).collect();
    Err(format!("listed without a check, or checked without being listed: {differ:?}").into())
}
