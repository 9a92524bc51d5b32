//! One call of a command: its files, its environment, and the outcome it reports.

use std::io;
use std::path::PathBuf;
use std::process::Command;

use evalsuite_records::record::Note;

use crate::agents::command::cli_agent::ResolvedCommand;
use crate::agents::command::command_line::{OUTPUT, PROMPT};
use crate::agents::command::output_file::{self, Reading};
use crate::agents::{CommandAnswer, CommandCall, CommandFailure, OUTPUT_LIMIT};
use crate::model::command::{CommandEnvironment, shell};
use crate::model::messages::answer;
use crate::model::outcome::Outcome;
use crate::platform::excerpt::last_chars;
use crate::platform::files::RedactedFiles;
use crate::platform::process::{self, Captured, Finished};
use crate::platform::redaction::Redactor;
use crate::platform::sealed::{SealedStart, named_files};
use crate::platform::shell_quoting::is_quotable;
use crate::platform::untrusted::{OpenError, UntrustedDirectory};

/// Characters of the standard error that an error shows.
const STDERR_SHOWN: usize = 2000;
/// Largest trajectory that is read, in bytes.
const TRAJECTORY_LIMIT: u64 = 64 << 20;
/// Name of the file with the transcript.
const TRAJECTORY: &str = "trajectory.json";

/// What helps where a command cannot have written its output.
const UNUSED_OUTPUT: &str = "\nhelp: the command has to write its answer to `{OUTPUT_FILE}`, but does not use this placeholder; what it \
                             prints is only logged, so add `> {OUTPUT_FILE}` if it prints the answer";

impl ResolvedCommand<'_> {
    /// Runs the command once.
    pub(crate) fn call(&self, ask: &CommandCall<'_>) -> CommandAnswer {
        let line = self.command.fill(ask, &self.target.files_format);
        let mut answer = CommandAnswer { result: Ok(()), reported: Outcome::new(), notes: Vec::new(), log: None };
        answer.result = self.run(&line, ask, &mut answer);
        let failed = answer.result.is_err();
        let keep = failed || ask.keep || self.target.keep_temp_files;
        if let Err(error) = clean_up(ask.directory, keep, failed, ask.redactor) {
            answer.note("output_not_kept", format!("{}: {error}", ask.directory.path().display()));
        }
        answer.log = self.target.verbose.then(|| format!("$ {line}"));
        answer
    }

    fn run(&self, line: &str, ask: &CommandCall<'_>, answer: &mut CommandAnswer) -> Result<(), CommandFailure> {
        let failed = CommandFailure::Failed;
        let directory = ask.directory.path();
        // What an earlier call or the agent under test has left is not what this command writes.
        for file in [OUTPUT, TRAJECTORY] {
            ask.directory.remove(file).map_err(|error| {
                let path = directory.join(file);
                failed(format!("{} is from before the call, and cannot be removed: {error}", path.display()))
            })?;
        }
        ask.directory.write(PROMPT, ask.prompt.as_bytes()).map_err(|error| {
            failed(format!("the prompt cannot be written to {}: {error}", directory.join(PROMPT).display()))
        })?;
        if !ask.cwd.is_dir() {
            return Err(failed(format!("the working directory {} does not exist", ask.cwd.display())));
        }
        if self.command.has("PROMPT") && !is_quotable(ask.prompt) {
            let help = "help: pass it as `{PROMPT_FILE}`";
            return Err(failed(format!("the prompt has several lines, of which `cmd` reads only the first\n{help}")));
        }
        let (mut command, seal) = self.start(line, ask);
        command.env("EVALSUITE_TRAJECTORY_PATH", directory.join(TRAJECTORY));
        let finished = process::run_sealed(command, Vec::new(), ask.limit, ask.environment.echo, seal.as_ref())
            .map_err(|error| failed(self.not_started(&error)))?;
        for (name, stream) in [("stdout.txt", &finished.stdout), ("stderr.txt", &finished.stderr)] {
            write_captured(ask, name, stream, &mut answer.notes);
        }
        let failure = if finished.timed_out {
            let fact = format!("the command did not end within {} s", ask.limit.as_secs_f64());
            Some(CommandFailure::TimedOut(with_stderr(&fact, &finished)))
        } else if !finished.status.success() {
            Some(failed(with_stderr(&format!("the command failed: {}", finished.status), &finished)))
        } else {
            None
        };
        let problems = [self.read_output(ask, failure.is_some(), answer), read_trajectory(ask, answer)];
        let mut problems = problems.into_iter().flatten();
        match failure {
            Some(failure) => {
                problems.for_each(|problem| answer.note("output_unreadable", problem));
                Err(failure)
            }
            None => problems.next().map_or(Ok(()), |problem| Err(failed(with_stderr(&problem, &finished)))),
        }
    }

    /// A command line as a program, in its directory with its environment, and how it starts if it is sealed.
    pub(crate) fn start(&self, line: &str, ask: &CommandCall<'_>) -> (Command, Option<SealedStart>) {
        let mut command = shell(line);
        self.set_environment(&mut command, ask.environment);
        command.current_dir(ask.cwd);
        if let Some(mcp) = ask.mcp {
            mcp.add_to(&mut command);
        }
        let seal = ask.seal.map(|seal| self.sealed_start(seal, &command, ask));
        (command, seal)
    }

    /// How the command starts with the files of the call, and those that it names.
    fn sealed_start(&self, seal: &SealedStart, command: &Command, ask: &CommandCall<'_>) -> SealedStart {
        let mut named: Vec<PathBuf> =
            self.command.texts().flat_map(|text| named_files::of_line(text, ask.cwd, command)).collect();
        named.extend(ask.files.iter().cloned());
        let mut own = vec![ask.directory.path().to_owned()];
        if let Some(mcp) = ask.mcp {
            own.push(mcp.path().to_owned());
            named.extend(mcp.programs());
        }
        seal.with(named, own)
    }

    /// Adds what the output file reports; returns why it cannot be used. A command that failed need not have written one.
    fn read_output(&self, ask: &CommandCall<'_>, has_failed: bool, answer: &mut CommandAnswer) -> Option<String> {
        let bytes = match ask.directory.read(OUTPUT, OUTPUT_LIMIT) {
            Ok(bytes) => bytes,
            Err(OpenError::Missing) if has_failed => return None,
            Err(OpenError::Missing) => {
                let help = if self.command.has("OUTPUT_FILE") { "" } else { UNUSED_OUTPUT };
                return Some(format!("the command wrote no output file{help}"));
            }
            Err(error) => return Some(format!("the output file {error}")),
        };
        if has_failed && bytes.is_empty() {
            // The shell has made the file that a command writes to.
            return None;
        }
        let reading = Reading { directory: ask.cwd, form: self.target.output, writer: ask.writer, is_cut: has_failed };
        let reply = output_file::read(&bytes, reading);
        answer.reported = reply.outcome;
        answer.notes.extend(reply.notes);
        reply.problem.map(|problem| format!("the output file cannot be used: {problem}"))
    }

    /// Sets the variables of the trial and of the target.
    pub(crate) fn set_environment(&self, command: &mut Command, environment: &CommandEnvironment) {
        environment.apply(command);
        command.envs(self.target.env.iter().map(|(name, value)| (name, value)));
    }

    fn not_started(&self, error: &io::Error) -> String {
        let is_too_long = error.kind() == io::ErrorKind::ArgumentListTooLong && self.command.has("PROMPT");
        let help = "\nhelp: the prompt is too long for a command line; pass it as `{PROMPT_FILE}`";
        format!("the command cannot be run: {error}{}", if is_too_long { help } else { "" })
    }
}

impl CommandAnswer {
    fn note(&mut self, code: &str, message: String) {
        self.notes.push(Note::new(code, message));
    }
}

/// Adds the transcript that is written next to the answer, if there is none in it; returns why it cannot be used.
fn read_trajectory(ask: &CommandCall<'_>, answer: &mut CommandAnswer) -> Option<String> {
    if answer.reported.messages.is_some() {
        return None;
    }
    let reported = match ask.directory.read(TRAJECTORY, TRAJECTORY_LIMIT) {
        Ok(json) => match Outcome::from_trajectory(json) {
            Ok(reported) => reported,
            Err(error) => return Some(format!("the trajectory cannot be used: {error}")),
        },
        Err(OpenError::Missing) => return None,
        Err(error) => {
            return Some(format!("the trajectory {} {error}", ask.directory.path().join(TRAJECTORY).display()));
        }
    };
    let reply = std::mem::take(&mut answer.reported);
    answer.reported = with_trajectory(reply, reported);
    None
}

/// The answer with the transcript that is written next to it. The answer takes precedence where both report a value.
fn with_trajectory(reply: Outcome, reported: Outcome) -> Outcome {
    let said = reported.messages.as_deref().map(answer).unwrap_or_default();
    Outcome {
        // White space at the end does not make it another answer.
        text: reply.text.filter(|text| text.trim_end() != said.trim_end()),
        messages: reported.messages,
        usage: reply.usage.or(reported.usage),
        cost_usd: reply.cost_usd.or(reported.cost_usd),
        duration_ms: reply.duration_ms.or(reported.duration_ms),
        model: reply.model.or(reported.model),
        ..reply
    }
}

/// Removes the prompt and the output, or the secrets in them; of the trajectory, the secrets. A command that failed may have
/// ended while it wrote.
fn clean_up(directory: &UntrustedDirectory, keep: bool, is_cut: bool, redactor: &Redactor) -> io::Result<()> {
    [PROMPT, OUTPUT].into_iter().try_for_each(|file| match keep {
        true => directory.redact(file, OUTPUT_LIMIT, redactor, is_cut && file == OUTPUT),
        false => directory.remove(file),
    })?;
    directory.redact(TRAJECTORY, TRAJECTORY_LIMIT, redactor, is_cut)
}

/// A fact with the end of the command's standard error.
pub(crate) fn with_stderr(fact: &str, finished: &Finished) -> String {
    with_stderr_text(fact, &finished.stderr.text())
}

/// The same with a text.
pub(crate) fn with_stderr_text(fact: &str, stderr: &str) -> String {
    match stderr.trim() {
        "" => fact.to_owned(),
        stderr => format!("{fact}\nstderr: {}", last_chars(stderr, STDERR_SHOWN)),
    }
}

/// Writes what was captured to a file of the call, if there is anything.
pub(crate) fn write_captured(ask: &CommandCall<'_>, name: &str, stream: &Captured, notes: &mut Vec<Note>) {
    if stream.bytes.is_empty() {
        return;
    }
    let path = ask.directory.path().join(name);
    if let Err(error) = ask.directory.write(name, ask.redactor.apply(&stream.text()).as_bytes()) {
        notes.push(Note::new("output_not_kept", format!("{}: {error}", path.display())));
    } else if stream.truncated {
        let message = format!("{}: only the first {} bytes are kept", path.display(), stream.bytes.len());
        notes.push(Note::new("output_truncated", message));
    }
}
