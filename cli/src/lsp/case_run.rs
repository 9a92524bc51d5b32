//! Runs the test of a case for an editor.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::{env, thread};

use evalsuite_loader::CasePlace;
use evalsuite_schema::discovery::with_slashes;
use serde::{Deserialize, Serialize};

use super::workspace::OpenSuite;
use crate::platform::cargo_process::cargo;
use crate::platform::test_output::{TestResult, skipped_test, test_result};

/// The command of the code lens.
pub(super) const COMMAND: &str = "evalsuite.runCase";

/// Bytes of the output that are shown, at most: its end.
const MAX_SHOWN: usize = 16 << 10;

/// The argument of [`COMMAND`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CaseRun {
    /// Id of the case.
    pub(super) case: String,
    /// Directory of the package.
    pub(super) directory: String,
    /// Arguments of cargo that run it.
    pub(super) arguments: Vec<String>,
    /// Arguments of cargo that build its test program, for a debugger.
    pub(super) build: Vec<String>,
    /// Arguments of the test program that run it.
    pub(super) test: Vec<String>,
}

/// How a run ended.
pub(super) struct Ended {
    pub(super) case: String,
    pub(super) result: CaseResult,
    pub(super) output: String,
}

/// What a run says about its case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CaseResult {
    Passed,
    Skipped,
    /// It failed, or its test program does not compile.
    NotPassed,
    /// Nothing is known of the case; the text says why.
    NotRun(String),
}

/// The run of a case of a suite that tests include.
pub(super) fn of_case(suite: &OpenSuite, case: &CasePlace) -> Option<CaseRun> {
    let include = suite.include.as_ref()?;
    let directory = suite.request.package_root.clone();
    let named = include.binding.name.as_ref().map(ToString::to_string);
    let module = named.or_else(|| suite.session.module()).unwrap_or_default();
    let test = case.test.join("::");
    let program = program(&include.source, &directory);
    let with_program =
        |own: &[&str]| own.iter().map(|word| (*word).to_owned()).chain(program.clone()).collect::<Vec<_>>();
    let (own, others) = suite.tests_of(&case.id);
    let of_module = |paths: Vec<String>| paths.into_iter().map(|path| format!("{module}::{path}"));
    let filters: Vec<String> = of_module(if own.is_empty() { vec![test.clone()] } else { own }).collect();
    // Without `--exact`, as modules may be around that of the suite, the tests of other cases contain the filters, too.
    let has_filter = |other: &String| filters.iter().any(|filter| other.contains(filter.as_str()));
    let skipped = of_module(others).filter(has_filter).flat_map(|other| ["--skip".to_owned(), other]);
    let libtest: Vec<String> = filters.iter().cloned().chain(skipped).collect();
    let arguments = if has_nextest() {
        // A target is a module between those of the suite and the case.
        let pattern = format!("test(/(^|::){module}::([^:]+::)?{test}$/)");
        // The output of a passed test says whether its case was skipped. A default filter may leave out cases, which are expensive.
        let own = ["--ignore-default-filter", "--success-output", "immediate", "-E"].map(str::to_owned).to_vec();
        [with_program(&["nextest", "run"]), own, vec![pattern]].concat()
    } else {
        [with_program(&["test"]), vec!["--".to_owned()], libtest.clone()].concat()
    };
    let build = with_program(&["test", "--no-run"]);
    Some(CaseRun { case: case.id.clone(), directory: directory.to_str()?.to_owned(), arguments, build, test: libtest })
}

/// The option for the test program that a source file belongs to, as far as its place says it.
fn program(source: &Path, package: &Path) -> Vec<String> {
    let below = source.strip_prefix(package).map(with_slashes).unwrap_or_default();
    match below.split('/').collect::<Vec<_>>()[..] {
        ["tests", name] => vec!["--test".to_owned(), name.trim_end_matches(".rs").to_owned()],
        ["tests", name, ..] if package.join("tests").join(name).join("main.rs").is_file() => {
            vec!["--test".to_owned(), name.to_owned()]
        }
        ["src", "lib.rs"] => vec!["--lib".to_owned()],
        _ => Vec::new(),
    }
}

fn has_nextest() -> bool {
    let name = format!("cargo-nextest{}", env::consts::EXE_SUFFIX);
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|directory| directory.join(&name).is_file()))
}

/// Starts the run on a thread, which says how it ended.
pub(super) fn start(run: CaseRun, say: impl FnOnce(Ended) + Send + 'static) {
    thread::spawn(move || {
        let mut command: Command = cargo();
        command.args(&run.arguments).current_dir(&run.directory).stdin(Stdio::null());
        // The output is read.
        command.env("CARGO_TERM_COLOR", "never").env_remove("RUST_TEST_NOCAPTURE");
        let ended = match command.output() {
            Ok(output) => {
                let result = result_of(&run, output.status, &output.stdout, &output.stderr);
                let text = [output.stdout, output.stderr].concat();
                let text = String::from_utf8_lossy(&text[text.len().saturating_sub(MAX_SHOWN)..]).into_owned();
                Ended { case: run.case, result, output: text }
            }
            Err(error) => {
                let result = CaseResult::NotRun(format!("cargo: {error}"));
                Ended { case: run.case, result, output: String::new() }
            }
        };
        say(ended);
    });
}

/// The exit status of nextest if it does not know one of its arguments.
const NEXTEST_USAGE: i32 = 2;
/// The exit status of nextest if no test matches.
const NEXTEST_WITHOUT_TESTS: i32 = 4;

/// What the output says about the tests of the case. The exit status is also that of other tests, and a success if there is none.
fn result_of(run: &CaseRun, status: ExitStatus, stdout: &[u8], stderr: &[u8]) -> CaseResult {
    let (stdout, stderr) = (String::from_utf8_lossy(stdout), String::from_utf8_lossy(stderr));
    let filters = || run.test.iter().take_while(|word| *word != "--skip");
    let is_own = |test: &str| {
        filters().any(|filter| {
            test.strip_suffix(filter.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
        })
    };
    let with_nextest = run.arguments.first().is_some_and(|first| first == "nextest");
    let nothing = || CaseResult::NotRun("no test of this case was found".to_owned());
    let passed = if with_nextest {
        match (status.code(), passed_with_nextest(&stderr)) {
            (Some(NEXTEST_USAGE), _) => return CaseResult::NotRun("nextest 0.9.77 or later is needed".to_owned()),
            (Some(NEXTEST_WITHOUT_TESTS), _) | (Some(0), 0) => return nothing(),
            (Some(0), passed) => passed,
            // It runs no other tests, and repeats some of those that failed.
            _ => return CaseResult::NotPassed,
        }
    } else {
        let results: Vec<(&str, TestResult)> = stdout.lines().filter_map(test_result).collect();
        let own: Vec<TestResult> = results.iter().filter(|(test, _)| is_own(test)).map(|(_, result)| *result).collect();
        if own.is_empty() {
            return if status.success() { nothing() } else { CaseResult::NotPassed };
        }
        // Without a test that failed, a program ended before all of its tests did.
        let has_died = !status.success() && !results.iter().any(|(_, result)| *result == TestResult::Failed);
        if has_died || own.contains(&TestResult::Failed) {
            return CaseResult::NotPassed;
        }
        own.iter().filter(|result| **result == TestResult::Passed).count()
    };
    // Of several targets, some may have run.
    let skips = stdout.lines().chain(stderr.lines()).filter_map(skipped_test).filter(|test| is_own(test)).count();
    if skips >= passed { CaseResult::Skipped } else { CaseResult::Passed }
}

/// The number of tests that passed, as the last lines of nextest say. The lines of libtest are no help: if it has one thread, the output of a
/// test that is not captured comes between its name and its result.
fn passed_with_nextest(stderr: &str) -> usize {
    let summary = |line: &str| {
        line.trim_start().strip_prefix("Summary [")?.split_once(": ")?.1.split_once(" passed")?.0.parse().ok()
    };
    stderr.lines().rev().find_map(summary).unwrap_or(0)
}
