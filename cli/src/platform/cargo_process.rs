//! Calls of cargo.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use evalsuite::tooling::remove_git_variables;
use evalsuite_schema::Value;

use crate::platform::exit_status::{CliError, CommandStatus, ErrorContext, Result};

/// The cargo that runs this program. In a git hook, programs that tests start must not work on the repository of the hook.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    remove_git_variables(&mut cargo);
    cargo
}

/// Packages by their directories, as cargo describes them.
pub(crate) type Packages = BTreeMap<PathBuf, Value>;

/// What cargo says about the workspace around a directory, as JSON.
///
/// Asked without other packages, cargo needs neither a network nor what it has not downloaded, such as packages of other platforms.
pub(crate) fn metadata(directory: &Path) -> Result<Value> {
    let mut metadata = cargo();
    metadata.args(["metadata", "--offline", "--format-version", "1", "--no-deps"]).current_dir(directory);
    let output = metadata.stdin(Stdio::null()).output().of(&metadata)?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        let message = message.trim();
        return Err(CliError::new(message.strip_prefix("error: ").unwrap_or(message)));
    }
    Ok(evalsuite_schema::json::from_slice(&output.stdout)?)
}

/// The packages in an output of [`metadata`].
pub(crate) fn packages(metadata: &Value) -> Packages {
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let directory = |package: &Value| Some(Path::new(package["manifest_path"].as_str()?).parent()?.to_owned());
    packages.into_iter().filter_map(|package| Some((directory(&package)?, package))).collect()
}

/// Exit code of cargo if a build or tests failed.
pub(crate) const CARGO_FAILED: i32 = 101;

/// Exit code of nextest if tests failed.
const NEXTEST_FAILED: i32 = 100;

/// How a command ends for tests that were built and have ended: 1 if some failed, 2 if the test runner broke or was stopped.
pub(crate) fn exit(status: ExitStatus) -> CommandStatus {
    match status.code() {
        Some(0) => CommandStatus::Good,
        Some(CARGO_FAILED | NEXTEST_FAILED) => CommandStatus::Problems,
        _ => CommandStatus::CannotWork,
    }
}
