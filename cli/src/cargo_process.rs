//! Calls of cargo.

use std::env;
use std::process::{Command, ExitCode, ExitStatus};

use crate::CANNOT_WORK;

/// The cargo that runs this program.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Exit code of cargo if a build or tests failed.
pub(crate) const CARGO_FAILED: i32 = 101;

/// Exit code of nextest if tests failed.
const NEXTEST_FAILED: i32 = 100;

/// The exit code for tests that were built and have ended: 1 if some failed, 2 if the test runner broke or was stopped.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    match status.code() {
        Some(0) => ExitCode::SUCCESS,
        Some(CARGO_FAILED | NEXTEST_FAILED) => ExitCode::FAILURE,
        _ => ExitCode::from(CANNOT_WORK),
    }
}
