//! `cargo evalsuite regrade`.

use std::io;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use evalsuite::record::run_directory::LATEST;

use crate::cargo_process::{CARGO_FAILED, cargo, exit_code};
use crate::command_line::Regrade;
use crate::{CANNOT_WORK, stored_runs};

/// Runs the tests, which contain the graders, on the evidence of an earlier run.
pub(crate) fn run(command: &Regrade) -> io::Result<ExitCode> {
    let run = match stored_runs::find(&command.run)? {
        Ok(run) => run,
        Err(code) => return Ok(code),
    };
    let mut tests = cargo_tests(command);
    tests.args(&command.arguments);
    // `latest` is not one run but the newest trials of each case: under `cargo test` every test program has its own run.
    let id = if command.run == LATEST { LATEST.to_owned() } else { run.id() };
    tests.env("EVALSUITE_REGRADE", id).env_remove("EVALSUITE_MODE").env_remove("EVALSUITE_RUN_ID");
    if Path::new(&command.run).components().count() > 1
        && let Some(output) = run.path().parent().and_then(Path::parent)
    {
        // The tests look for the run in the directory they write to.
        tests.env("EVALSUITE_OUTPUT", std::path::absolute(output)?);
    }
    let status = tests.status()?;
    // Cargo's code for failed tests and for a failed build is the same.
    let may_be_build = !status.success() && !command.nextest;
    if may_be_build
        && !cargo_tests(command)
            .arg("--no-run")
            .args(&command.arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?
            .success()
    {
        return Ok(ExitCode::from(CANNOT_WORK));
    }
    // Nextest's code for a failed build is cargo's for failed tests.
    Ok(if command.nextest && status.code() == Some(CARGO_FAILED) {
        ExitCode::from(CANNOT_WORK)
    } else {
        exit_code(status)
    })
}

fn cargo_tests(command: &Regrade) -> Command {
    let mut tests = cargo();
    if command.nextest {
        tests.args(["nextest", "run"]);
    } else {
        tests.arg("test");
    }
    tests.arg("--no-fail-fast");
    tests
}
