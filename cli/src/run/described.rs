//! What suites say about their tests: names of modules are chosen in the code, so only test programs know them.

use std::io::{self, Write};
use std::process::{ExitCode, Output, Stdio};

use evalsuite::tooling::{DESCRIBE_VARIABLE, SuiteDescription};

use crate::command_line::Run;
use crate::runs;

use super::runner;

/// Name of the test that every suite has.
const CHECK: &str = "suite_check";

/// Builds the tests and asks every suite in them; or the code to exit with, where that does not work.
///
/// # Errors
///
/// If cargo cannot be run, or a description not be read.
pub(super) fn suites(command: &Run) -> io::Result<Result<Vec<SuiteDescription>, ExitCode>> {
    // What the build says is for people to see, while it is said.
    let listed = runner::cargo_test(command)
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
    let output = runner::cargo_test(command)
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
    for entry in std::fs::read_dir(directory.path())? {
        suites.extend(runs::read::<SuiteDescription>(&entry?.path())?);
    }
    suites.sort_by(|left, right| left.check.cmp(&right.check));
    Ok(Ok(suites))
}

/// Shows what was said and gives the code.
fn failed(output: &Output) -> io::Result<ExitCode> {
    io::stderr().write_all(&output.stdout)?;
    let code = output.status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
