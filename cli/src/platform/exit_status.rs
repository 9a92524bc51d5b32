//! The exit status of a command, and the errors that it ends with, which know theirs.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::iter::successors;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::platform::output::say;

/// The exit status of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandStatus {
    Good = 0,
    /// The command did its work and found problems.
    Problems = 1,
    /// The command could not do its work: the command line, a file or the environment is at fault.
    CannotWork = 2,
    /// Nothing can be said: too few cases in common, or too many without a result.
    Undecided = 4,
}

impl CommandStatus {
    /// `Good` if a condition holds, else `Problems`.
    pub(crate) fn good_if(is_good: bool) -> Self {
        if is_good { Self::Good } else { Self::Problems }
    }
}

impl From<CommandStatus> for ExitCode {
    fn from(exit: CommandStatus) -> Self {
        Self::from(exit as u8)
    }
}

/// What a command ends with.
pub(crate) type Result<T, E = CliError> = std::result::Result<T, E>;

/// Why a command ends early. Every other error becomes one with the causes of that error in its message; therefore this type
/// is no [`Error`] itself.
#[derive(Debug)]
pub(crate) struct CliError {
    exit: CommandStatus,
    /// The problems. Without any, who found the problem has printed it, as cargo does.
    messages: Vec<String>,
}

impl CliError {
    /// The command cannot do its work.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { exit: CommandStatus::CannotWork, messages: vec![message.into()] }
    }

    /// The same with what the user can do.
    pub(crate) fn with_help(message: impl Display, help: impl Display) -> Self {
        Self::new(format!("{message}\n  = help: {help}"))
    }

    /// The command was built without the feature that it needs.
    #[cfg(not(all(
        feature = "convert",
        feature = "judge",
        feature = "lsp",
        feature = "mcp",
        feature = "record",
        feature = "watch"
    )))]
    pub(crate) fn without_feature(feature: &str) -> Self {
        Self::with_help(
            format!("this command was built without the feature `{feature}`"),
            format!(
                "`cargo install cargo-evalsuite --features {feature}`; the program that `cargo binstall cargo-evalsuite` \
                 downloads has all features"
            ),
        )
    }

    /// The same with the name that was probably meant, if one is known.
    pub(crate) fn with_suggestion(message: impl Display, suggestion: Option<String>) -> Self {
        match suggestion {
            Some(help) => Self::with_help(message, help),
            None => Self::new(message.to_string()),
        }
    }

    /// Several problems.
    pub(crate) fn of_all(exit: CommandStatus, messages: Vec<String>) -> Self {
        Self { exit, messages }
    }

    /// A problem that has been printed.
    pub(crate) fn printed() -> Self {
        Self::of_all(CommandStatus::CannotWork, Vec::new())
    }

    /// Prints the problems, and says how the command ends.
    pub(crate) fn print(&self) -> CommandStatus {
        self.messages.iter().for_each(|message| say!("error: {message}"));
        self.exit
    }
}

impl Display for CliError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&self.messages.join("\n"))
    }
}

impl<E: Error + 'static> From<E> for CliError {
    fn from(error: E) -> Self {
        let cause: &(dyn Error + 'static) = &error;
        match cause.downcast_ref::<io::Error>() {
            // Who reads the output of `watch` or `lsp` has gone, which is how they end.
            Some(error) if error.kind() == io::ErrorKind::BrokenPipe => Self::of_all(CommandStatus::Good, Vec::new()),
            _ => Self::new(with_causes(&error)),
        }
    }
}

/// Names what an error is about.
pub(crate) trait ErrorContext<T> {
    /// A file or directory.
    fn at(self, path: &Path) -> Result<T>;

    /// A program that could not be run.
    fn of(self, command: &Command) -> Result<T>;
}

impl<T, E: Error + 'static> ErrorContext<T> for std::result::Result<T, E> {
    fn at(self, path: &Path) -> Result<T> {
        self.map_err(|error| CliError::new(format!("{}: {}", path.display(), with_causes(&error))))
    }

    fn of(self, command: &Command) -> Result<T> {
        self.map_err(|error| CliError::new(format!("cannot run `{}`: {error}", command.get_program().display())))
    }
}

fn with_causes(error: &(dyn Error + 'static)) -> String {
    let causes = successors(Some(error), |&error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
