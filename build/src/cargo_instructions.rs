//! What a build script knows from cargo, and what it prints for cargo.

use std::ffi::OsString;
use std::path::PathBuf;

/// The package of a build script.
#[derive(Debug, Clone)]
pub(crate) struct Package {
    /// Directory of the package's `Cargo.toml`.
    pub(crate) root: PathBuf,
    /// Where the build script may write.
    pub(crate) out_dir: PathBuf,
}

impl Package {
    pub(crate) fn of_build_script() -> Result<Self, String> {
        Ok(Self { root: variable("CARGO_MANIFEST_DIR")?.into(), out_dir: variable("OUT_DIR")?.into() })
    }
}

fn variable(name: &str) -> Result<OsString, String> {
    std::env::var_os(name).ok_or_else(|| format!("`{name}` is not set: evalsuite_build works in build scripts only"))
}

/// Instructions, collected before they are printed so that tests can read them.
#[derive(Debug, Default)]
pub(crate) struct Instructions {
    lines: Vec<String>,
    failed: bool,
}

impl Instructions {
    /// Prints the instructions that `collect` adds. After an error, or outside of a build script, this is the end of the process.
    pub(crate) fn run(collect: impl FnOnce(&Package, &mut Self)) {
        let mut instructions = Self::default();
        match Package::of_build_script() {
            Ok(package) => collect(&package, &mut instructions),
            Err(error) => instructions.error(&error),
        }
        instructions.print();
    }

    /// The build script runs again when something at or below `path` changes.
    pub(crate) fn rerun_if_changed(&mut self, path: &str) {
        self.lines.push(format!("cargo::rerun-if-changed={path}"));
    }

    #[cfg(feature = "generate")]
    pub(crate) fn rerun_if_env_changed(&mut self, variable: &str) {
        self.lines.push(format!("cargo::rerun-if-env-changed={variable}"));
    }

    /// The package is compiled with this environment variable.
    pub(crate) fn rustc_env(&mut self, variable: &str, value: &str) {
        self.lines.push(format!("cargo::rustc-env={variable}={value}"));
    }

    /// Cargo shows the text. Each line of it is an instruction, because instructions end with their line.
    pub(crate) fn warning(&mut self, text: &str) {
        self.lines.extend(text.lines().map(|line| format!("cargo::warning={line}")));
    }

    /// Cargo shows the text, and the build fails.
    pub(crate) fn error(&mut self, text: &str) {
        self.failed = true;
        self.lines.extend(text.lines().map(|line| format!("cargo::error={line}")));
    }

    #[cfg(test)]
    pub(crate) fn lines(&self) -> &[String] {
        &self.lines
    }

    fn print(self) {
        for line in &self.lines {
            println!("{line}");
        }
        if self.failed {
            std::process::exit(1);
        }
    }
}
