//! Calls of cargo.

use std::env;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use crate::platform::cli_error::{CliError, Exit, OfProgram, Result};

/// The cargo that runs this program.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// What cargo says about packages, as JSON.
pub(crate) fn metadata(directory: &Path, arguments: &[&str]) -> Result<evalsuite_schema::Value> {
    let mut metadata = cargo();
    metadata.args(["metadata", "--offline", "--format-version", "1"]).args(arguments).current_dir(directory);
    let output = metadata.stdin(Stdio::null()).output().of(&metadata)?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        let message = message.trim();
        return Err(CliError::new(message.strip_prefix("error: ").unwrap_or(message)));
    }
    Ok(evalsuite_schema::json::from_slice(&output.stdout)?)
}

/// Exit code of cargo if a build or tests failed.
pub(crate) const CARGO_FAILED: i32 = 101;

/// Exit code of nextest if tests failed.
const NEXTEST_FAILED: i32 = 100;

/// How a command ends for tests that were built and have ended: 1 if some failed, 2 if the test runner broke or was stopped.
pub(crate) fn exit(status: ExitStatus) -> Exit {
    match status.code() {
        Some(0) => Exit::Good,
        Some(CARGO_FAILED | NEXTEST_FAILED) => Exit::Problems,
        _ => Exit::CannotWork,
    }
}
