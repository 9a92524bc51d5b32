//! What a build script prints for cargo.

/// Instructions, collected before they are printed so that tests can read them.
#[derive(Debug, Default)]
pub(crate) struct Instructions {
    lines: Vec<String>,
    failed: bool,
}

impl Instructions {
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

    #[cfg(feature = "generate")]
    pub(crate) fn append(&mut self, mut other: Instructions) {
        self.failed |= other.failed;
        self.lines.append(&mut other.lines);
    }

    #[cfg(test)]
    pub(crate) fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Prints everything; after an error this is the end of the build script.
    pub(crate) fn print(self) {
        for line in &self.lines {
            println!("{line}");
        }
        if self.failed {
            std::process::exit(1);
        }
    }
}
