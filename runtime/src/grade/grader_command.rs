//! The commands of graders: code graders, preprocessors, and commands that write prompts; and what they read: the evidence as JSON.

use std::fmt::Display;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use evalsuite_records::record::Note;
use evalsuite_schema::grader::PreparedCommand;
use evalsuite_schema::json::json;
use evalsuite_schema::{
    Argument, Command, Content, Input, Message, Object, Part, PathRef, SealMode, Sealing, ToolCall, Value,
};

use crate::grade::grading_context::GradingContext;
use crate::model::command::{CommandSeal, shell};
use crate::model::messages::{file_parts, messages_of};
use crate::platform::excerpt::{last_chars, trim};
use crate::platform::files::RedactedFiles;
use crate::platform::process::{self, Finished};
use crate::platform::seal_terms::SealedFiles;
use crate::platform::sealed::{SealedStart, named_files};
use crate::platform::untrusted::UntrustedDirectory;

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

/// Characters of a transcript up to which it is part of the input; a longer one is passed as a file.
const INLINE_LIMIT: usize = 50_000;
/// Name of the file with a longer transcript.
const OUTPUT: &str = "output.json";

/// Runs a command of the grader at `path` with its input. The secrets in the file with the transcript are hidden once the command has
/// read it; a failure is noted.
pub(crate) fn with_input<T>(
    config: &Object,
    path: &str,
    context: &GradingContext<'_>,
    run: impl FnOnce(&Value) -> T,
) -> io::Result<T> {
    let directory = context.grader_files().directory(&context.grader_directory(path));
    let returned = build(config, context, &directory).map(|input| run(&input));
    if let Err(error) = directory.redact(OUTPUT, u64::MAX, context.redactor, false) {
        let message = format!("{}: {error}", directory.path().join(OUTPUT).display());
        context.notes.borrow_mut().push(Note::new("output_not_kept", message));
    }
    returned
}

fn build(config: &Object, context: &GradingContext<'_>, directory: &UntrustedDirectory) -> io::Result<Value> {
    let facts = context.evidence.facts();
    let places = context.places;
    let input_messages = facts.input.as_ref().map_or_else(Default::default, messages_of);
    let of_suite = |file: &PathRef| places.resolve(file);
    let input = match &facts.input {
        Some(Input::Data(object)) => json!([{"role": "user", "content": object}]),
        _ => messages(input_messages, &of_suite),
    };
    let files: Vec<String> =
        file_parts(input_messages).into_iter().map(|file| places.resolve(file).display().to_string()).collect();
    let transcript = match &facts.transcript {
        Some(transcript) => messages(transcript, &|file| facts.files.path(file)),
        None => json!([{"role": "assistant", "content": context.evidence.answer()}]),
    };
    let (output, output_path) = place_output(transcript, directory)?;
    Ok(json!({
        "id": facts.case_id,
        "suite": context.suite,
        "target": facts.target,
        "trial": facts.trial,
        "criteria": facts.criteria,
        "input": input,
        "input_files": files,
        "expected_output": messages(&facts.reference(), &of_suite),
        "answer": context.evidence.answer(),
        "output": output,
        "output_path": output_path,
        "trace": context.evidence.tool_calls().map(|calls| trace(&calls, context.evidence.llm_calls())),
        "token_usage": context.evidence.usage(),
        "cost_usd": context.evidence.cost_usd(),
        "duration_ms": facts.duration_ms,
        "start_time": facts.started_at,
        "end_time": facts.ended_at,
        "file_changes": facts.diff,
        "workspace_path": facts.files.workspace.display().to_string(),
        "metadata": facts.metadata,
        "state": facts.state,
        "model": facts.model,
        "agent_metadata": facts.agent_metadata,
        "config": config,
    }))
}

fn place_output(transcript: Value, directory: &UntrustedDirectory) -> io::Result<(Value, Option<String>)> {
    let text = transcript.to_string();
    if text.chars().count() <= INLINE_LIMIT {
        return Ok((transcript, None));
    }
    let path = directory.path().join(OUTPUT);
    directory.write(OUTPUT, text.as_bytes())?;
    Ok((Value::Null, Some(path.display().to_string())))
}

fn trace(calls: &[&ToolCall], llm_calls: Option<u64>) -> Value {
    let mut counts = Object::new();
    let mut durations = Object::new();
    for call in calls {
        let count = counts.get(&call.tool).and_then(Value::as_u64).unwrap_or(0);
        counts.insert(call.tool.clone(), Value::from(count + 1));
        if let (Some(duration), Value::Array(list)) =
            (call.took_ms(), durations.get_or_insert(call.tool.clone(), Value::Array(Vec::new())))
        {
            list.push(Value::from(duration));
        }
    }
    durations.retain(|_, list| list.as_array().is_some_and(|list| !list.is_empty()));
    json!({
        "event_count": calls.len(),
        "tool_calls": counts,
        "error_count": calls.iter().filter(|call| call.is_error).count(),
        "llm_call_count": llm_calls,
        "tool_durations": durations,
    })
}

/// Absolute path of a file or an image in a message.
type PathOf<'p> = &'p dyn Fn(&PathRef) -> PathBuf;

fn messages(messages: &[Message], path_of: PathOf<'_>) -> Value {
    messages.iter().map(|message| self::message(message, path_of)).collect()
}

/// A message as records have it, except for the paths in its content.
fn message(message: &Message, path_of: PathOf<'_>) -> Value {
    let mut value = json!(message);
    if let Some(content) = &message.content {
        value["content"] = self::content(content, path_of);
    }
    value
}

fn content(content: &Content, path_of: PathOf<'_>) -> Value {
    match content {
        Content::Text(text) => text.clone().into(),
        Content::Data(value) => value.clone(),
        Content::Parts(parts) => parts.iter().map(|part| self::part(part, path_of)).collect(),
    }
}

fn part(part: &Part, path_of: PathOf<'_>) -> Value {
    let named = |kind: &str, file: &PathRef| json!({"type": kind, "value": file.written, "path": path_of(file).display().to_string()});
    let mut value = match part {
        // Graders written for other tools read the text here.
        Part::Text(text) => json!({"type": "text", "value": text, "text": text}),
        Part::Image { file, .. } => named("image", file),
        Part::Audio { file, .. } => named("audio", file),
        Part::Document { file, .. } => named("document", file),
        other => other.file().map(|file| named("file", file)).unwrap_or_default(),
    };
    if let Some(media_type) = part.media_type() {
        value["media_type"] = media_type.into();
    }
    value
}
