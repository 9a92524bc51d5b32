//! The commands of graders: code graders, preprocessors, and commands that write prompts.

use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use evalsuite_records::record::Note;
use evalsuite_schema::grader::PreparedCommand;
use evalsuite_schema::{Argument, Command, SealMode, Sealing, Value};

use crate::grade::grading_context::GradingContext;
use crate::model::command::{CommandSeal, shell};
use crate::model::messages::{file_parts, messages_of};
use crate::platform::excerpt::{last_chars, trim};
use crate::platform::process::{self, Finished};
use crate::platform::seal_terms::SealedFiles;
use crate::platform::sealed::{SealedStart, named_files};

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

    /// Whether the command is sealed, and what it may use then: the workspace, the directory with its input, and the files that it names.
    pub(crate) fn seal(
        &self,
        sealing: &Sealing,
        context: &GradingContext<'_>,
        directory: Option<PathBuf>,
    ) -> Result<CommandSeal, String> {
        if context.environment.seals.mode(sealing) == SealMode::Off {
            return Ok(CommandSeal::off());
        }
        let mut named = match &self.line {
            Some(line) => named_files::of_line(line, &self.cwd, &self.unstarted(context)),
            None => named_files::of_arguments(self.argv.iter().map(String::as_str), &self.cwd),
        };
        let facts = context.evidence.facts();
        let input = facts.input.as_ref().map_or_else(Default::default, messages_of);
        named.extend(
            file_parts(input).into_iter().map(|file| context.places.resolve(file)).filter(|file| file.is_file()),
        );
        let own = [Some(context.evidence.workspace().to_owned()), directory];
        let own = own.into_iter().flatten().filter(|path| path.is_dir()).collect();
        let files = SealedFiles { named, own, working: Some(self.cwd.clone()), ..SealedFiles::default() };
        let seal = context.environment.seals.seal(sealing, context.places, files);
        seal.map_err(|refusal| refusal.message)
    }

    /// The command with its variables.
    fn unstarted(&self, context: &GradingContext<'_>) -> std::process::Command {
        let program = self.argv.first().map(String::as_str).unwrap_or_default();
        let mut command = self.line.as_deref().map_or_else(|| std::process::Command::new(program), shell);
        if self.line.is_none() {
            command.args(self.argv.iter().skip(1));
        }
        command.current_dir(&self.cwd);
        context.environment.apply(&mut command);
        command
    }

    /// Runs the command with a value on its standard input.
    pub(crate) fn run(
        &self,
        input: &Value,
        limit: Duration,
        context: &GradingContext<'_>,
        seal: Option<&SealedStart>,
    ) -> Result<Finished, String> {
        let program = self.argv.first().ok_or("the command is empty")?;
        if !self.cwd.is_dir() {
            return Err(format!("the working directory {} does not exist", self.cwd.display()));
        }
        let command = self.unstarted(context);
        let input = serde_json::to_vec_pretty(input).map_err(unwritable_input)?;
        process::run_sealed(command, input, limit, context.environment.echo, seal)
            .map_err(|error| format!("cannot run `{program}`: {error}"))
    }
}

/// Runs a command within [`COMMAND_LIMIT`] and returns its standard output without surrounding white space. A seal that is missing is a note
/// of the trial: the command has no record of its own.
pub(crate) fn output(
    prepared: &PreparedCommand,
    input: &Value,
    context: &GradingContext<'_>,
) -> Result<String, String> {
    let command = GraderCommand::new(prepared, context);
    let seal = command.seal(&Sealing::default(), context, None)?;
    if let Some(unsealed) = seal.record.as_ref().filter(|record| record.is_unsealed()) {
        context.add_note(Some(Note::new("unsealed", format!("`{}`: {}", command.argv.join(" "), unsealed.text()))));
    }
    let finished = command.run(input, COMMAND_LIMIT, context, seal.start.as_ref())?;
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
