//! Real suites: each loads with the number of tests and graders that its manifest lists, or has errors whose claims are true.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::LazyLock;

use evalsuite_conformance::corpus::{CorpusSuite, LoadedCorpusSuite, Surroundings};
use evalsuite_conformance::schemas::Schemas;
use evalsuite_conformance::test_data::Corpus;
use evalsuite_conformance::{corpus, documented_rules};
use evalsuite_loader::Loaded;
use evalsuite_schema::diagnostics::Severity;
use libtest_mimic::{Arguments, Failed, Trial};

/// The section of docs/compatibility.md that lists what is wrong with which suite.
const SECTION: &str = "Real suites";

/// Compiled by the first test that needs them: with a process for each test, most have none.
static SCHEMAS: LazyLock<Schemas> = LazyLock::new(Schemas::new);

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let tests = Corpus::find().and_then(|corpus| match corpus {
        Corpus::Present { path, is_other } => tests(&path, is_other),
        Corpus::Absent(ignored) => Ok(vec![ignored]),
    });
    match tests {
        Ok(tests) => libtest_mimic::run(&arguments, tests).exit_code(),
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn tests(folder: &Path, is_other: bool) -> Result<Vec<Trial>, String> {
    let entries = corpus::manifest_suites(folder)?;
    let mut tests = Vec::new();
    for entry in &entries {
        for (place, surroundings) in [("package", Surroundings::Package), ("repository", Surroundings::Repository)] {
            let entry = entry.clone();
            let name = format!("corpus::{place}::{}", entry.name());
            tests.push(Trial::test(name, move || check_corpus_suite(&entry, surroundings, is_other)));
        }
    }
    for entry in &entries {
        let entry = entry.clone();
        let name = format!("schemas::{}", entry.name());
        tests.push(Trial::test(name, move || {
            let outcome = corpus::load(&entry, Surroundings::Package)?;
            conforms(&outcome.loaded, Path::new(&entry.suite))
        }));
    }
    for suite in corpus::task_suites(folder) {
        let name = suite.strip_prefix(folder).unwrap_or(&suite).display().to_string();
        let of_schemas = suite.clone();
        tests.push(Trial::test(format!("schemas::{name}"), move || {
            conforms(&corpus::load_tasks(&of_schemas)?, Path::new("suite.json"))
        }));
        tests.push(Trial::test(format!("corpus::{name}"), move || check_task_suite(&suite)));
    }
    if !is_other {
        tests.push(Trial::test("every_listed_suite_has_the_listed_error", move || every_listed_error_occurs(&entries)));
    }
    Ok(tests)
}

/// The loaded suite, and its errors by code.
fn errors(
    entry: &CorpusSuite,
    surroundings: Surroundings,
) -> Result<(LoadedCorpusSuite, BTreeMap<&'static str, Vec<String>>), Failed> {
    let outcome = corpus::load(entry, surroundings)?;
    let mut errors: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    let problems = outcome.loaded.diagnostics.iter().chain(&outcome.targets_file_problems);
    for diagnostic in problems.filter(|diagnostic| diagnostic.severity() == Severity::Error) {
        let place = diagnostic.place.as_ref().expect("problems of files have a place");
        let (shown, line) = (&place.file, place.start().map_or(1, |start| start.line));
        errors.entry(diagnostic.code.name()).or_default().push(format!("{shown}:{line}: {}", diagnostic.message));
    }
    Ok((outcome, errors))
}

fn check_corpus_suite(entry: &CorpusSuite, surroundings: Surroundings, is_other: bool) -> Result<(), Failed> {
    let (outcome, errors) = errors(entry, surroundings)?;
    let mut problems = outcome.false_claims.clone();
    if errors.is_empty() {
        let suite = outcome.loaded.suite.as_ref().ok_or("there is neither a suite nor an error")?;
        let found = corpus::count(suite);
        if found != entry.expected {
            problems.push(format!("the manifest lists {:?}, we have {found:?}", entry.expected));
        }
    } else if !is_other {
        let documented = documented_rules::in_section(SECTION)?;
        for (code, found) in &errors {
            let listed = format!("{} {code}", entry.suite);
            if !documented.contains(&listed) {
                problems.push(format!("docs/compatibility.md does not list `{listed}`: {found:?}"));
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

/// The files of a suite without errors conform to the schemas that editors get. `suite` is what the path of the suite's file ends with.
fn conforms(loaded: &Loaded, suite: &Path) -> Result<(), Failed> {
    if loaded.suite.is_none() {
        return Ok(());
    }
    let files = loaded.files.all();
    let suite = files.iter().find(|file| file.path.ends_with(suite)).ok_or("the file of the suite was not read")?;
    let checked: Vec<_> = files.iter().filter_map(|file| SCHEMAS.problems(file, &suite.path)).collect();
    let has_own_file = checked.iter().any(|(kind, _)| ["eval", "suite", "cases"].contains(kind));
    let problems: Vec<String> = checked.into_iter().flat_map(|(_, problems)| problems).collect();
    if !has_own_file {
        return Err("no schema was applied to the file of the suite".into());
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

fn check_task_suite(suite: &Path) -> Result<(), Failed> {
    let (expected, found) = corpus::count_tasks(suite)?;
    if expected == found { Ok(()) } else { Err(format!("{expected} task files, {found} tests").into()) }
}

fn every_listed_error_occurs(entries: &[CorpusSuite]) -> Result<(), Failed> {
    let mut unused = documented_rules::in_section(SECTION)?;
    for entry in entries {
        let (_, errors) = errors(entry, Surroundings::Package)?;
        for code in errors.keys() {
            unused.remove(&format!("{} {code}", entry.suite));
        }
    }
    if unused.is_empty() { Ok(()) } else { Err(format!("listed errors that do not occur: {unused:?}").into()) }
}
