use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use evalsuite_schema::record::Note;

use crate::{
    agents::command::{Ready, command_line::Values, reply},
    model::{
        command::{CommandEnvironment, shell},
        messages::answer,
        outcome::Outcome,
    },
    platform::{
        excerpt::last_chars,
        process::{self, Captured, Finished},
        redaction::Redactor,
    },
};

/// Characters of the standard error that an error shows.
const STDERR_SHOWN: usize = 2000;
/// Largest output file that is read, in bytes.
const OUTPUT_LIMIT: u64 = 16 << 20;

/// What a command is asked, and where.
pub(crate) struct Ask<'a> {
    pub(crate) prompt: &'a str,
    pub(crate) files: &'a [PathBuf],
    pub(crate) case_id: &'a str,
    /// Index of the trial.
    pub(crate) trial: u32,
    /// Where the files of the call go.
    pub(crate) directory: &'a Path,
    /// Working directory of the command.
    pub(crate) cwd: &'a Path,
    pub(crate) environment: &'a CommandEnvironment,
    pub(crate) limit: Duration,
    /// Keeps prompt and output file, also of a call that went well.
    pub(crate) keep: bool,
    pub(crate) redactor: &'a Redactor,
}

/// What became of a call.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) result: Result<Outcome, Failure>,
    pub(crate) notes: Vec<Note>,
    /// The command line, where it is to be logged.
    pub(crate) log: Option<String>,
}

/// Why a command has no answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    TimedOut(String),
    Failed(String),
}

/// The files of a call.
struct Files {
    prompt: PathBuf,
    output: PathBuf,
    trajectory: PathBuf,
}

impl Ready<'_> {
    /// Runs the command once.
    pub(crate) fn call(&self, ask: &Ask<'_>) -> Answer {
        let files = Files {
            prompt: ask.directory.join("prompt.md"),
            output: ask.directory.join("output"),
            trajectory: ask.directory.join("trajectory.json"),
        };
        let line = self.command.fill(&Values {
            prompt: ask.prompt,
            prompt_file: &files.prompt,
            case_id: ask.case_id,
            trial: ask.trial,
            files: ask.files,
            files_format: &self.files_format,
            output_file: &files.output,
        });
        let mut notes = Vec::new();
        let result = self.run(&line, &files, ask, &mut notes);
        if let Err(error) = files.tidy(result.is_ok() && !ask.keep && !self.agent.target.keep_temp_files, ask.redactor)
        {
            notes.push(Note::new("output_not_kept", format!("{}: {error}", ask.directory.display())));
        }
        let log = self.agent.target.verbose.then(|| format!("$ {line}"));
        Answer { result, notes, log }
    }

    fn run(&self, line: &str, files: &Files, ask: &Ask<'_>, notes: &mut Vec<Note>) -> Result<Outcome, Failure> {
        let failed = |what: String| Failure::Failed(what);
        fs::create_dir_all(ask.directory)
            .and_then(|()| fs::write(&files.prompt, ask.prompt))
            .map_err(|error| failed(format!("the prompt cannot be written to {}: {error}", files.prompt.display())))?;
        if !ask.cwd.is_dir() {
            return Err(failed(format!("the working directory {} does not exist", ask.cwd.display())));
        }
        let mut command = shell(line);
        self.equip(&mut command, ask.environment);
        command.current_dir(ask.cwd).env("EVALSUITE_TRAJECTORY_PATH", &files.trajectory);
        let finished = process::run(command, Vec::new(), ask.limit, ask.environment.echo)
            .map_err(|error| failed(self.not_started(&error)))?;
        for (name, stream) in [("stdout.txt", &finished.stdout), ("stderr.txt", &finished.stderr)] {
            keep(&ask.directory.join(name), stream, ask.redactor, notes);
        }
        if finished.timed_out {
            let limit = ask.limit.as_secs_f64();
            return Err(Failure::TimedOut(explained(&format!("the command did not end within {limit} s"), &finished)));
        }
        if !finished.status.success() {
            return Err(failed(explained(&format!("the command failed: {}", finished.status), &finished)));
        }
        let text = self.read(&files.output, &finished).map_err(failed)?;
        let reply = reply::read(&text, ask.cwd)
            .map_err(|problem| failed(explained(&format!("the output file cannot be used: {problem}"), &finished)))?;
        notes.extend(reply.notes);
        match fs::read(&files.trajectory) {
            Ok(json) if reply.outcome.messages.is_none() => with_trajectory(reply.outcome, &json).map_err(failed),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(failed(format!("the trajectory {} cannot be read: {error}", files.trajectory.display())))
            }
            _ => Ok(reply.outcome),
        }
    }

    /// The variables of the trial and of the target.
    pub(crate) fn equip(&self, command: &mut Command, environment: &CommandEnvironment) {
        environment.apply(command);
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
    }

    fn not_started(&self, error: &io::Error) -> String {
        let help = match error.kind() {
            io::ErrorKind::ArgumentListTooLong if self.command.holds_prompt() => {
                "\nhelp: the prompt is too long for a command line; hand it over as `{PROMPT_FILE}`"
            }
            _ => "",
        };
        format!("the command cannot be run: {error}{help}")
    }

    fn read(&self, output: &Path, finished: &Finished) -> Result<String, String> {
        let size = match fs::metadata(output) {
            Ok(metadata) => metadata.len(),
            Err(_) => {
                let help = match self.command.names_output_file() {
                    true => "",
                    false => "\nhelp: the command has to write its answer to `{OUTPUT_FILE}`, but does not name it",
                };
                return Err(explained(&format!("the command wrote no output file{help}"), finished));
            }
        };
        if size > OUTPUT_LIMIT {
            return Err(format!("the output file has {size} bytes, more than {OUTPUT_LIMIT}"));
        }
        let bytes = fs::read(output).map_err(|error| format!("the output file cannot be read: {error}"))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The answer, and the transcript that is written beside it. What both tell is taken from the answer.
fn with_trajectory(reply: Outcome, json: &[u8]) -> Result<Outcome, String> {
    let told = Outcome::from_trajectory(json).map_err(|error| format!("the trajectory cannot be used: {error}"))?;
    let said = told.messages.as_deref().map(answer).unwrap_or_default();
    Ok(Outcome {
        // A line break at the end makes it no other answer.
        text: reply.text.filter(|text| text.trim_end() != said.trim_end()),
        messages: told.messages,
        state: reply.state,
        usage: reply.usage.or(told.usage),
        cost_usd: reply.cost_usd.or(told.cost_usd),
        duration_ms: reply.duration_ms.or(told.duration_ms),
        model: reply.model.or(told.model),
        metadata: reply.metadata,
    })
}

impl Files {
    /// Removes prompt and output, or leaves them without secrets.
    fn tidy(&self, remove: bool, redactor: &Redactor) -> io::Result<()> {
        for file in [&self.prompt, &self.output] {
            let result = if remove { fs::remove_file(file) } else { redact(file, redactor) };
            match result {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

fn redact(file: &Path, redactor: &Redactor) -> io::Result<()> {
    if fs::metadata(file)?.len() > OUTPUT_LIMIT {
        // Too large to look for secrets in it, and no use to anybody.
        return fs::remove_file(file);
    }
    let bytes = fs::read(file)?;
    let Ok(text) = String::from_utf8(bytes) else { return Ok(()) };
    let shown = redactor.apply(&text);
    if shown == text { Ok(()) } else { fs::write(file, shown) }
}

/// The fact, and the end of what the command says about it.
fn explained(fact: &str, finished: &Finished) -> String {
    let stderr = finished.stderr.text();
    match stderr.trim() {
        "" => fact.to_owned(),
        stderr => format!("{fact}\nstderr: {}", last_chars(stderr, STDERR_SHOWN)),
    }
}

fn keep(path: &Path, stream: &Captured, redactor: &Redactor, notes: &mut Vec<Note>) {
    if stream.bytes.is_empty() {
        return;
    }
    if let Err(error) = fs::write(path, redactor.apply(&stream.text())) {
        notes.push(Note::new("output_not_kept", format!("{}: {error}", path.display())));
    } else if stream.truncated {
        let message = format!("{}: only the first {} bytes are kept", path.display(), stream.bytes.len());
        notes.push(Note::new("output_truncated", message));
    }
}
