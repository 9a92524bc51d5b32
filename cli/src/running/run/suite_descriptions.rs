//! The tests of suites, as test programs describe them: the names of their modules are chosen in code, so only the programs
//! know them.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::{fs, io};

use evalsuite::tooling::{DESCRIBE_VARIABLE, SuiteDescription};
use evalsuite_records::record::SuiteId;

use super::cargo_commands::cargo_test;
use crate::command_line::Run;
use crate::platform::cli_error::{AtPath, CliError, OfProgram, Result};

/// Name of a test that every suite has.
const CHECK: &str = "suite_check";

/// Builds the tests and finds the tests `suite_check` of every suite in them.
pub(crate) fn build_and_find_checks(command: &Run) -> Result<Vec<String>> {
    // The output of the build is shown while it runs.
    let mut list = cargo_test(command);
    list.args(["--", "--list", "--format", "terse"]).stdin(Stdio::null()).stderr(Stdio::inherit());
    let listed = list.output().of(&list)?;
    if !listed.status.success() {
        return Err(failed(&listed)?);
    }
    let text = String::from_utf8_lossy(&listed.stdout);
    let tests = text.lines().filter_map(|line| line.strip_suffix(": test"));
    Ok(tests.filter(|test| test.rsplit("::").next() == Some(CHECK)).map(str::to_owned).collect())
}

/// `cargo test` of the tests `suite_check`.
pub(crate) fn run_checks(command: &Run, checks: &[String]) -> Command {
    let mut tests = cargo_test(command);
    tests.args(["--no-fail-fast", "--", "--exact"]).args(checks).stdin(Stdio::null());
    tests
}

/// Builds the tests and gets the description of every suite in them.
pub(super) fn describe_suites(command: &Run) -> Result<Vec<SuiteDescription>> {
    let checks = build_and_find_checks(command)?;
    if checks.is_empty() {
        return Ok(Vec::new());
    }
    let directory = tempfile::tempdir()?;
    let mut checks = run_checks(command, &checks);
    let output = checks.env(DESCRIBE_VARIABLE, directory.path()).output().of(&checks)?;
    if !output.status.success() {
        io::stderr().write_all(&output.stderr)?;
        return Err(failed(&output)?);
    }
    let mut suites = described_in(directory.path())?;
    suites.sort_by(|left, right| (&left.check, &left.id).cmp(&(&right.check, &right.id)));
    let ids: Vec<SuiteId> = suites.iter().map(|suite| suite.id.clone()).collect();
    for (suite, label) in suites.iter_mut().zip(SuiteId::labels(&ids)) {
        suite.suite = label;
    }
    Ok(suites)
}

/// The suites, with names that differ.
pub(crate) fn names(suites: &[SuiteDescription]) -> Vec<(SuiteId, String)> {
    suites.iter().map(|suite| (suite.id.clone(), suite.suite.clone())).collect()
}

/// The suites that test programs have described in a directory of ours.
pub(crate) fn described_in(directory: &Path) -> Result<Vec<SuiteDescription>> {
    let mut suites = Vec::new();
    for entry in fs::read_dir(directory)? {
        let file = entry?.path();
        let suite = evalsuite_schema::json::from_slice(&fs::read(&file)?);
        suites.push(suite.at(&file)?);
    }
    Ok(suites)
}

/// Prints the output of a failed call of cargo.
pub(crate) fn failed(output: &Output) -> Result<CliError> {
    io::stderr().write_all(&output.stdout)?;
    Ok(CliError::printed())
}
