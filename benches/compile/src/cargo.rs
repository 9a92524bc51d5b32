//! Runs cargo with the same environment for every package.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::competitor::TEST_TARGET;
use crate::package::Package;
use crate::process;
use crate::process::{Finished, TimedOut};

/// cargo with its own target directory, which all packages share.
pub(crate) struct Cargo {
    target: PathBuf,
    limit: Duration,
}

/// A finished build of a package's tests.
pub(crate) struct Build {
    /// From the start of cargo to its end.
    pub(crate) elapsed: Duration,
    /// Processor time of cargo and its child processes.
    pub(crate) processor: Option<Duration>,
    /// The test binary.
    pub(crate) executable: PathBuf,
    /// Nothing had to be built.
    pub(crate) fresh: bool,
}

impl Cargo {
    /// Builds to `target`, with a time limit for each build.
    pub(crate) fn new(target: PathBuf, limit: Duration) -> Result<Self> {
        std::fs::create_dir_all(&target).with_context(|| format!("cannot create {}", target.display()))?;
        Ok(Self { target, limit })
    }

    /// Builds the dependencies of the tests, and the package's empty library. The inner `Err` is the reason for a failed build.
    pub(crate) fn build_dependencies(&self, package: &Package) -> Result<Result<(), String>> {
        let built = self.run(package, &["test", "--no-run", "--lib"])?;
        Ok(built.map(drop))
    }

    /// Builds the tests. The inner `Err` is the reason for a failed build.
    pub(crate) fn build_tests(&self, package: &Package) -> Result<Result<Build, String>> {
        let arguments = ["test", "--no-run", "--offline", "--message-format=json"];
        let finished = match self.run(package, &arguments)? {
            Ok(finished) => finished,
            Err(why) => return Ok(Err(why)),
        };
        let (executable, fresh) = test_binary(&finished.stdout).context("cargo does not name the test binary")?;
        Ok(Ok(Build { elapsed: finished.elapsed, processor: finished.processor, executable, fresh }))
    }

    /// Removes the build artifacts of the package itself.
    pub(crate) fn clean(&self, package: &Package) -> Result<()> {
        let cleaned = self.run(package, &["clean", "--offline", "--package", &package.name()])?;
        cleaned.map(drop).map_err(anyhow::Error::msg)
    }

    /// Whether `cargo nextest` is installed.
    pub(crate) fn has_nextest(&self) -> bool {
        let version = Command::new("cargo").args(["nextest", "--version"]).output();
        version.is_ok_and(|output| output.status.success())
    }

    /// Runs a program with the time limit of builds.
    pub(crate) fn run_program(&self, program: &mut Command) -> Result<Result<Finished, TimedOut>> {
        process::run(program, self.limit, &self.target)
    }

    /// Runs all tests with nextest and returns the seconds it took. The inner `Err` is the reason for a failed run.
    pub(crate) fn nextest(&self, package: &Package) -> Result<Result<f64, String>> {
        let arguments = [
            "nextest",
            "run",
            "--offline",
            "--cargo-quiet",
            "--no-fail-fast",
            "--status-level",
            "none",
            "--show-progress",
            "none",
        ];
        Ok(self.run(package, &arguments)?.map(|finished| finished.cost()))
    }

    /// A program that calls cargo, with cargo's defaults.
    pub(crate) fn configured(&self, mut command: Command, package: &Package) -> Command {
        command.current_dir(&package.root);
        for (name, _) in std::env::vars_os() {
            if is_setting(&name) {
                command.env_remove(name);
            }
        }
        command.env("CARGO_TARGET_DIR", &self.target).env("CARGO_TERM_COLOR", "never");
        command.env("EVALSUITE_OUTPUT", package.results());
        command
    }

    fn run(&self, package: &Package, arguments: &[&str]) -> Result<Result<Finished, String>> {
        let mut command = self.configured(Command::new("cargo"), package);
        command.args(arguments);
        Ok(match process::run(&mut command, self.limit, &self.target)? {
            Err(timed_out) => Err(timed_out.to_string()),
            Ok(finished) if finished.status.success() => Ok(finished),
            Ok(finished) => Err(format!("does not build: {}", first_error(&finished))),
        })
    }
}

/// Whether a variable would change how a package is built. Such variables are removed, so that builds use cargo's defaults.
fn is_setting(name: &OsStr) -> bool {
    const EXACT: &[&str] = &[
        "CARGO_BIN_NAME",
        "CARGO_CRATE_NAME",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_INCREMENTAL",
        "CARGO_TARGET_DIR",
        "OUT_DIR",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_WRAPPER",
        "RUSTFLAGS",
    ];
    const FAMILIES: &[&str] =
        &["CARGO_BUILD_", "CARGO_MANIFEST_", "CARGO_PKG_", "CARGO_PROFILE_", "CARGO_TARGET_", "EVALSUITE_"];
    name.to_str().is_some_and(|name| EXACT.contains(&name) || FAMILIES.iter().any(|family| name.starts_with(family)))
}

/// The test binary, and whether it was up to date.
fn test_binary(messages: &str) -> Option<(PathBuf, bool)> {
    messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|message| {
        let is_test = message["reason"] == "compiler-artifact" && message["target"]["name"] == TEST_TARGET;
        let executable = is_test.then(|| message["executable"].as_str()).flatten()?;
        Some((Path::new(executable).to_path_buf(), message["fresh"].as_bool()?))
    })
}

/// The first error message, from cargo's JSON messages or from stderr.
fn first_error(finished: &Finished) -> String {
    let rendered =
        finished.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|message| {
            let is_error = message["message"]["level"] == "error";
            is_error.then(|| message["message"]["message"].as_str().map(str::to_owned)).flatten()
        });
    rendered
        .or_else(|| finished.stderr.lines().find(|line| line.starts_with("error")).map(str::to_owned))
        .unwrap_or_else(|| finished.stderr.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_settings_are_recognised() {
        for name in ["CARGO_INCREMENTAL", "CARGO_PROFILE_DEV_DEBUG", "RUSTFLAGS", "CARGO_MANIFEST_DIR"] {
            assert!(is_setting(OsStr::new(name)), "{name}");
        }
        for name in ["CARGO_HOME", "PATH", "CARGO_HTTP_PROXY", "CARGO_REGISTRIES_X_INDEX", "RUSTUP_TOOLCHAIN"] {
            assert!(!is_setting(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn the_test_binary_is_found_in_the_messages() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"lib"},"executable":"/t/lib-1","fresh":true}
{"reason":"compiler-artifact","target":{"name":"evals"},"executable":"/t/evals-1","fresh":false}
{"reason":"build-finished","success":true}"#;
        assert_eq!(test_binary(messages), Some((PathBuf::from("/t/evals-1"), false)));
    }
}
