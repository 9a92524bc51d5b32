//! Calls of cargo and of test programs.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Build, Package, Ran, place};

/// A call that does not know the test program it comes from: of its environment only what is the machine's is kept.
#[derive(Debug)]
#[must_use = "nothing is called before `run`"]
pub struct Call {
    command: Command,
    shown: Vec<String>,
}

impl Call {
    pub(crate) fn cargo(package: &Package) -> Self {
        Self::program(cargo(), package).of_cargo()
    }

    /// Cargo in the workspace of evalsuite, for what leaves it as it is.
    pub fn cargo_in_workspace() -> Self {
        Self::new(cargo().as_ref(), place::workspace()).of_cargo()
    }

    fn of_cargo(self) -> Self {
        Self { shown: vec!["cargo".to_owned()], ..self }.with_cargo()
    }

    /// For programs that call cargo: with the target directory of all packages.
    pub fn with_cargo(self) -> Self {
        self.env("CARGO_TARGET_DIR", place::shared_target())
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_TERM_COLOR", "never")
    }

    /// A program that works on a package, such as a test program of it.
    pub fn program(program: impl AsRef<OsStr>, package: &Package) -> Self {
        let mut call = Self::new(program.as_ref(), package.root());
        call.command.env("EVALSUITE_OUTPUT", package.records_directory());
        call
    }

    fn new(program: &OsStr, directory: &Path) -> Self {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_of_this_run(name)) {
            command.env_remove(name);
        }
        command.current_dir(directory).stdin(Stdio::null());
        let shown = Path::new(program).file_name().unwrap_or(program);
        Self { command, shown: vec![shown.to_string_lossy().into_owned()] }
    }

    /// More arguments.
    pub fn args<'a>(mut self, arguments: impl IntoIterator<Item = &'a str>) -> Self {
        for argument in arguments {
            self.command.arg(argument);
            self.shown.push(argument.to_owned());
        }
        self
    }

    /// A variable of the environment.
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.command.env(name, value.into());
        self
    }

    /// Leaves out a variable that calls have by default.
    pub fn without_env(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Another working directory than the package's.
    pub fn in_directory(mut self, directory: &Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Waits for the end, whatever it is.
    pub fn run(mut self) -> Ran {
        let output =
            self.command.output().unwrap_or_else(|error| panic!("cannot start `{}`: {error}", self.shown.join(" ")));
        Ran::new(self.shown.join(" "), output)
    }

    /// Runs a cargo command that builds, and reads what it says about the build.
    pub fn build(self) -> Build {
        let ran = self.args(["--message-format=json"]).run();
        Build::new(ran)
    }
}

/// Variables of cargo, of the test runner and of evalsuite that belong to the outer run.
fn is_of_this_run(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let is_setting = ["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"].contains(&&*name);
    let is_own = ["CARGO", "EVALSUITE_", "NEXTEST", "RUST_", "OUT_DIR", "RUSTFLAGS", "RUSTDOCFLAGS"];
    !is_setting && is_own.iter().any(|start| name.starts_with(start))
}

fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Whether tests can call nextest. Where it is missing they say so and pass, except on a CI server, where it belongs to
/// the set-up.
pub fn has_nextest(test: &str) -> bool {
    let found = Command::new(cargo())
        .args(["nextest", "--version"])
        .stdin(Stdio::null())
        .output()
        .is_ok_and(|output| output.status.success());
    assert!(found || std::env::var_os("CI").is_none(), "cargo-nextest has to be installed on CI servers");
    if !found {
        use std::io::Write;
        // Past the capture of test output. Where standard error is closed there is nobody to tell.
        let _ = writeln!(std::io::stderr(), "SKIPPED {test}: cargo-nextest is not installed");
    }
    found
}
