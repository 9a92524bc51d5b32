//! Calls of cargo and of test programs.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::{Build, CommandOutput, Package, directories};

/// A call of a program without the variables that cargo, nextest and evalsuite have set for this test.
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

    /// Cargo in the workspace of evalsuite, for commands that do not change it. Crates that were built for this test are not built again.
    pub fn cargo_in_workspace() -> Self {
        let call = Self::new(cargo().as_ref(), directories::workspace()).of_cargo();
        call.env("CARGO_TARGET_DIR", directories::target())
    }

    fn of_cargo(self) -> Self {
        Self { shown: vec!["cargo".to_owned()], ..self }.with_cargo()
    }

    /// Adds the variables for cargo: offline, and with the target directory and the profile that all packages share. Test programs are
    /// small and quick to link. Incremental compilation does not pay off for packages of a few lines.
    pub fn with_cargo(self) -> Self {
        self.env("CARGO_TARGET_DIR", directories::shared_target())
            .env("CARGO_PROFILE_DEV_DEBUG", "false")
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_TERM_COLOR", "never")
    }

    /// A program in the directory of a package, such as one of its test programs.
    pub fn program(program: impl AsRef<OsStr>, package: &Package) -> Self {
        let mut call = Self::new(program.as_ref(), package.root());
        call.command.env("EVALSUITE_OUTPUT", package.records_directory());
        call
    }

    /// A command line of the shell on a terminal, which `script` emulates, in the directory of a package.
    #[cfg(target_os = "linux")]
    pub fn on_terminal(line: &str, package: &Package) -> Self {
        let call =
            Self::program("script", package).args(["--quiet", "--return", "--flush", "--command", line, "/dev/null"]);
        call.env("TERM", "xterm-256color")
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

    /// Adds arguments.
    pub fn args<'a>(mut self, arguments: impl IntoIterator<Item = &'a str>) -> Self {
        for argument in arguments {
            self.command.arg(argument);
            self.shown.push(argument.to_owned());
        }
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.command.env(name, value.into());
        self
    }

    /// Removes an environment variable that calls have by default.
    pub fn without_env(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Sets another working directory than the package's.
    pub fn in_directory(mut self, directory: &Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Runs the program to its end. Failing is not an error.
    pub fn run(mut self) -> CommandOutput {
        let output =
            self.command.output().unwrap_or_else(|error| panic!("cannot start `{}`: {error}", self.shown.join(" ")));
        CommandOutput::new(self.shown.join(" "), output)
    }

    /// Starts it and goes on. Its standard input and output are pipes, and its standard error is that of the test.
    #[track_caller]
    pub fn spawn(mut self) -> Child {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped());
        self.command.spawn().unwrap_or_else(|error| panic!("cannot start `{}`: {error}", self.shown.join(" ")))
    }

    /// Runs a cargo command that builds, and reads its messages.
    pub fn build(self) -> Build {
        let ran = self.args(["--message-format=json"]).run();
        Build::new(ran)
    }
}

/// Whether a variable of cargo, of the test runner or of evalsuite is about the run of this test.
fn is_of_this_run(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let is_setting = ["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"].contains(&&*name);
    let is_own = ["CARGO", "EVALSUITE_", "NEXTEST", "RUST_", "OUT_DIR", "RUSTFLAGS", "RUSTDOCFLAGS"];
    !is_setting && is_own.iter().any(|start| name.starts_with(start))
}

fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
