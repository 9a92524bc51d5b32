//! The commands of graders: code graders, preprocessors, and commands that write prompts.

use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use evalsuite_schema::grader::PreparedCommand;
use evalsuite_schema::{Argument, Command, Value};

use crate::grade::grading_context::GradingContext;
use crate::model::command::shell;
use crate::platform::excerpt::{last_chars, trim};
use crate::platform::process::{self, Finished};

/// Limit of a preprocessor, of a command that writes a prompt, and of one that combines the members of a composite.
pub(crate) const COMMAND_LIMIT: Duration = Duration::from_secs(60);
/// Characters of standard error that an error shows.
const STDERR_SHOWN: usize = 2000;

/// The error of a command that exceeded its time limit.
pub(crate) fn timed_out(limit: Duration) -> String {
    format!("the command did not end within {} s", limit.as_secs_f64())
}

pub(crate) fn unwritable_input(error: impl Display) -> String {
    format!("the input of the command cannot be written: {error}")
}

/// A command of a grader as it is started.
pub(crate) struct GraderCommand {
    /// Program and arguments, as records show them.
    pub(crate) argv: Vec<String>,
    pub(crate) cwd: PathBuf,
    /// The line that a shell interprets, if it is one: `cmd` does not read arguments as other programs do.
    line: Option<String>,
}

impl GraderCommand {
    pub(crate) fn new(prepared: &PreparedCommand, context: &GradingContext<'_>) -> Self {
        let cwd = match &prepared.cwd {
            Some(path) => context.places.resolve(path),
            None => context.places.suite_dir.clone(),
        };
        let (argv, line) = match &prepared.command {
            Command::Shell(line) => {
                let [shell, option] = if cfg!(windows) { ["cmd", "/C"] } else { ["sh", "-c"] };
                (vec![shell.to_owned(), option.to_owned(), line.clone()], Some(line.clone()))
            }
            Command::Argv(arguments) => {
                let text = |argument: &Argument| match argument {
                    Argument::Text(text) => text.clone(),
                    Argument::Path(path) => context.places.resolve(path).to_string_lossy().into_owned(),
                };
                (arguments.iter().map(text).collect(), None)
            }
        };
        Self { argv, cwd, line }
    }

    /// Runs the command with a value on its standard input.
    pub(crate) fn run(&self, input: &Value, limit: Duration, context: &GradingContext<'_>) -> Result<Finished, String> {
        let (program, arguments) = self.argv.split_first().ok_or("the command is empty")?;
        if !self.cwd.is_dir() {
            return Err(format!("the working directory {} does not exist", self.cwd.display()));
        }
        let mut command = self.line.as_deref().map_or_else(|| std::process::Command::new(program), shell);
        if self.line.is_none() {
            command.args(arguments);
        }
        command.current_dir(&self.cwd);
        context.environment.apply(&mut command);
        let input = serde_json::to_vec_pretty(input).map_err(unwritable_input)?;
        process::run(command, input, limit, context.environment.echo)
            .map_err(|error| format!("cannot run `{program}`: {error}"))
    }
}

/// Runs a command within [`COMMAND_LIMIT`] and returns its standard output without surrounding white space.
pub(crate) fn output(
    prepared: &PreparedCommand,
    input: &Value,
    context: &GradingContext<'_>,
) -> Result<String, String> {
    let finished = GraderCommand::new(prepared, context).run(input, COMMAND_LIMIT, context)?;
    if finished.timed_out {
        return Err(timed_out(COMMAND_LIMIT));
    }
    if !finished.status.success() {
        let stderr = last_chars(trim(&finished.stderr.text()), STDERR_SHOWN);
        return Err(format!("{}: {stderr}", finished.status));
    }
    if finished.stdout.truncated {
        return Err(format!("the command printed more than {} bytes", finished.stdout.bytes.len()));
    }
    Ok(trim(&finished.stdout.text()).to_owned())
}
