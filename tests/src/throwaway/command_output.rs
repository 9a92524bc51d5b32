//! The output and exit status of a program.

use std::process::Output;

/// A program that has ended.
#[derive(Debug)]
pub struct CommandOutput {
    command: String,
    /// Whether the exit code is 0.
    pub success: bool,
    /// The exit code; `None` after a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl CommandOutput {
    pub(crate) fn new(command: String, output: Output) -> Self {
        Self {
            command,
            success: output.status.success(),
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Both outputs, standard output first.
    pub fn text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// The command line, both outputs and the exit code, for messages of failing tests.
    pub fn transcript(&self) -> String {
        let code = self.code.map_or_else(|| "a signal".to_owned(), |code| code.to_string());
        format!("$ {}\n{}{}[ended with {code}]", self.command, self.stdout, self.stderr)
    }

    /// Fails the test unless the exit code is 0.
    #[track_caller]
    pub fn succeeds(self, expected: &str) -> Self {
        assert!(self.success, "expected: {expected}\n{}", self.transcript());
        self
    }

    /// Fails the test if the exit code is 0.
    #[track_caller]
    pub fn fails(self, expected: &str) -> Self {
        assert!(!self.success, "expected: {expected}\n{}", self.transcript());
        self
    }

    /// Fails the test unless the output contains `text`.
    #[track_caller]
    pub fn says(&self, text: &str) -> &Self {
        assert!(self.text().contains(text), "expected the output to contain\n{text}\n--- it is\n{}", self.transcript());
        self
    }

    /// Fails the test if the output contains `text`.
    #[track_caller]
    pub fn is_silent_about(&self, text: &str) -> &Self {
        assert!(
            !self.text().contains(text),
            "expected the output not to contain\n{text}\n--- it is\n{}",
            self.transcript()
        );
        self
    }

    /// Fails the test unless the output contains `text` exactly `times` times.
    #[track_caller]
    pub fn says_times(&self, text: &str, times: usize) -> &Self {
        let found = self.text().matches(text).count();
        assert!(found == times, "expected {times} times, found {found} times\n{text}\n--- in\n{}", self.transcript());
        self
    }
}
