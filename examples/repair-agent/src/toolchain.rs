//! Compiles with `rustc --test` and runs the test binaries.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use crate::RepairError;
use crate::diagnosis::{CompilerError, TestRun, compiler_errors};

/// The compiler, and the time limit of tests.
#[derive(Debug)]
pub(crate) struct Toolchain {
    rustc: PathBuf,
    /// Time limit for all tests of a program; tests that exceed it are assumed to be in an infinite loop.
    pub(crate) test_limit: Duration,
}

/// Result of a compilation.
#[derive(Debug)]
pub(crate) enum Compiled {
    /// A test binary.
    Binary,
    Errors(Vec<CompilerError>),
}

impl Toolchain {
    /// The compiler named by `RUSTC`, or else the one on the `PATH`.
    pub(crate) fn from_env(test_limit: Duration) -> Self {
        let rustc = env::var_os("RUSTC").filter(|path| !path.is_empty()).unwrap_or_else(|| OsString::from("rustc"));
        Self { rustc: rustc.into(), test_limit }
    }

    /// Compiles `root` and its tests to `binary`.
    pub(crate) fn compile(&self, root: &Path, binary: &Path) -> Result<Compiled, RepairError> {
        let output = Command::new(&self.rustc)
            .args(["--edition=2024", "--test", "--error-format=json", "--cap-lints=allow", "-Cdebuginfo=0"])
            .arg("-o")
            .arg(binary)
            .arg(root)
            .stdin(Stdio::null())
            .output()
            .map_err(|source| RepairError::Start { program: self.rustc.clone(), source })?;
        if output.status.success() {
            return Ok(Compiled::Binary);
        }
        Ok(Compiled::Errors(compiler_errors(&String::from_utf8_lossy(&output.stderr))))
    }

    /// Runs the tests of `binary` whose path contains `filter`. `None` if they exceed the time limit, or are no longer
    /// `needed`.
    pub(crate) fn test(
        &self,
        binary: &Path,
        filter: &str,
        needed: impl Fn() -> bool,
    ) -> Result<Option<TestRun>, RepairError> {
        let start = |source| RepairError::Start { program: binary.to_owned(), source };
        let mut command = Command::new(binary);
        command.args(["--test-threads=1", "--color=never"]).env("RUST_BACKTRACE", "0");
        if !filter.is_empty() {
            command.arg(filter);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(start)?;
        // Read while the tests run: a full pipe would block them.
        let reader = child.stdout.take().map(|mut stdout| {
            thread::spawn(move || {
                let mut bytes = Vec::new();
                stdout.read_to_end(&mut bytes).map(|_| bytes)
            })
        });
        let deadline = Instant::now() + self.test_limit;
        let status = loop {
            if let Some(status) = child.try_wait().map_err(start)? {
                break Some(status);
            }
            if Instant::now() >= deadline || !needed() {
                child.kill().map_err(start)?;
                child.wait().map_err(start)?;
                break None;
            }
            thread::sleep(Duration::from_millis(2));
        };
        let bytes = match reader.map(thread::JoinHandle::join) {
            Some(Ok(read)) => read.map_err(start)?,
            // The reader does not panic.
            Some(Err(_)) | None => Vec::new(),
        };
        Ok(status.map(|status| TestRun::read(&String::from_utf8_lossy(&bytes), status.success())))
    }
}
