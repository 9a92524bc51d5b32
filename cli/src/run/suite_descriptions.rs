//! The tests of suites, as test programs describe them: the names of their modules are chosen in code, so only the programs
//! know them.

use std::io::Write;
use std::process::{ExitCode, Output, Stdio};
use std::{fs, io};

use evalsuite::record::SuiteId;
use evalsuite::tooling::{DESCRIBE_VARIABLE, SuiteDescription};

use super::cargo_commands::cargo_test;
use crate::command_line::Run;
use crate::{CANNOT_WORK, stored_runs};

/// Name of a test that every suite has.
const CHECK: &str = "suite_check";

/// Builds the tests and gets the description of every suite in them, or the exit code if that fails.
///
/// # Errors
///
/// If cargo cannot be run, or a description cannot be read.
pub(super) fn describe_suites(command: &Run) -> io::Result<Result<Vec<SuiteDescription>, ExitCode>> {
    // The output of the build is shown while it runs.
    let listed = cargo_test(command)
        .args(["--", "--list", "--format", "terse"])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    if !listed.status.success() {
        return Ok(Err(failed(&listed)?));
    }
    let text = String::from_utf8_lossy(&listed.stdout);
    let checks: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .filter(|test| test.rsplit("::").next() == Some(CHECK))
        .collect();
    if checks.is_empty() {
        return Ok(Ok(Vec::new()));
    }
    let directory = tempfile::tempdir()?;
    let output = cargo_test(command)
        .args(["--no-fail-fast", "--", "--exact"])
        .args(&checks)
        .env(DESCRIBE_VARIABLE, directory.path())
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        io::stderr().write_all(&output.stderr)?;
        return Ok(Err(failed(&output)?));
    }
    let mut suites = Vec::new();
    for entry in fs::read_dir(directory.path())? {
        suites.extend(stored_runs::read_record::<SuiteDescription>(&entry?.path())?);
    }
    suites.sort_by(|left, right| (&left.check, &left.id).cmp(&(&right.check, &right.id)));
    label(&mut suites);
    Ok(Ok(suites))
}

/// Gives every suite a name that no other one has.
pub(crate) fn label(suites: &mut [SuiteDescription]) {
    let ids: Vec<SuiteId> = suites.iter().map(|suite| suite.id.clone()).collect();
    for (suite, label) in suites.iter_mut().zip(SuiteId::labels(&ids)) {
        suite.suite = label;
    }
}

/// The suites, with their names.
pub(crate) fn names(suites: &[SuiteDescription]) -> Vec<(SuiteId, String)> {
    suites.iter().map(|suite| (suite.id.clone(), suite.suite.clone())).collect()
}

/// Prints the output of a failed call of cargo.
fn failed(output: &Output) -> io::Result<ExitCode> {
    io::stderr().write_all(&output.stdout)?;
    Ok(ExitCode::from(CANNOT_WORK))
}
