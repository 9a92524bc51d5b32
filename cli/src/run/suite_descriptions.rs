//! The tests of suites, as test programs describe them: the names of their modules are chosen in code, so only the programs
//! know them.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::{fs, io};

use evalsuite::tooling::{DESCRIBE_VARIABLE, SuiteDescription};
use evalsuite_records::record::SuiteId;
use serde::de::DeserializeOwned;

use super::cargo_commands::cargo_test;
use crate::arguments::Build;
use crate::platform::cli_error::{CliError, ErrorContext, Result};

/// Name of a test that every suite has.
const CHECK: &str = "suite_check";

/// Builds the tests and finds the tests `suite_check` of every suite in them.
pub(crate) fn build_and_find_checks(build: &Build) -> Result<Vec<String>> {
    // The output of the build is shown while it runs.
    let mut list = cargo_test(build);
    list.args(["--", "--list", "--format", "terse"]).stdin(Stdio::null()).stderr(Stdio::inherit());
    let listed = list.output().of(&list)?;
    if !listed.status.success() {
        return Err(failed(&listed)?);
    }
    Ok(listed_checks(&listed))
}

/// The tests `suite_check` in a list that test programs have printed.
pub(crate) fn listed_checks(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    let tests = text.lines().filter_map(|line| line.strip_suffix(": test"));
    tests.filter(|test| test.rsplit("::").next() == Some(CHECK)).map(str::to_owned).collect()
}

/// `cargo test` of the tests `suite_check`.
pub(crate) fn run_checks(build: &Build, checks: &[String]) -> Command {
    let mut tests = cargo_test(build);
    tests.args(["--no-fail-fast", "--", "--exact"]).args(checks).stdin(Stdio::null());
    tests
}

/// Builds the tests and gets the description of every suite in them.
pub(super) fn describe_suites(build: &Build) -> Result<Vec<SuiteDescription>> {
    let checks = build_and_find_checks(build)?;
    if checks.is_empty() {
        return Ok(Vec::new());
    }
    let directory = tempfile::tempdir()?;
    let mut checks = run_checks(build, &checks);
    let output = checks.env(DESCRIBE_VARIABLE, directory.path()).output().of(&checks)?;
    if !output.status.success() {
        return Err(failed(&output)?);
    }
    let mut suites: Vec<SuiteDescription> = read_files(directory.path())?;
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

/// The JSON files that test programs have written to a directory of ours.
pub(crate) fn read_files<T: DeserializeOwned>(directory: &Path) -> Result<Vec<T>> {
    let mut read = Vec::new();
    for entry in fs::read_dir(directory)? {
        let file = entry?.path();
        if file.extension().is_some_and(|extension| extension == "json") {
            read.push(evalsuite_schema::json::from_slice(&fs::read(&file)?).at(&file)?);
        }
    }
    Ok(read)
}

/// Prints the output of a failed call of cargo.
pub(crate) fn failed(output: &Output) -> Result<CliError> {
    io::stderr().write_all(&output.stderr)?;
    io::stderr().write_all(&output.stdout)?;
    Ok(CliError::printed())
}
