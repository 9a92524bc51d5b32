//! The `code-grader`: a command reads the evidence as JSON and prints a result, or just exits.

pub(crate) mod payload;
pub(crate) mod reply;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use evalsuite_schema::{
    Argument, Command, Object,
    grader::{CodeGrader, PreparedCommand},
    record::{CommandRecord, GraderKind},
};
use serde_json::Value;

use crate::{
    grade::{Context, Graded},
    model::score::Score,
    platform::process::{self, Finished},
};

pub(crate) use crate::grade::code_grader::reply::VerdictRule;

/// Limit of a command where none is written.
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn grade(name: &str, config: &CodeGrader, context: &Context<'_>) -> Graded {
    let directory = context.grader_directory(name);
    let input = match input(&config.config, context, &directory) {
        Ok(input) => input,
        Err(error) => return Score::error(format!("the transcript cannot be written to a file: {error}")).into(),
    };
    let limit = match config.timeout_seconds.map(Duration::try_from_secs_f64) {
        None => LIMIT,
        Some(Ok(limit)) => limit,
        Some(Err(error)) => return Score::error(format!("`timeout_seconds` is out of range: {error}")).into(),
    };
    run(&config.run, &input, limit, VerdictRule::IsDetail, &directory, context)
}

/// What a command reads: the evidence, with settings of its own. A long transcript goes to a file in `directory`.
///
/// # Errors
///
/// If that file cannot be written.
pub(crate) fn input(config: &Object, context: &Context<'_>, directory: &Path) -> std::io::Result<Value> {
    payload::build(config, context, directory)
}

/// Runs a command with a value on its standard input.
///
/// # Errors
///
/// If it cannot be started.
pub(crate) fn execute(
    prepared: &PreparedCommand,
    input: &Value,
    limit: Duration,
    context: &Context<'_>,
) -> Result<Finished, String> {
    start(&argv(&prepared.command, context), &directory_of(prepared, context), input, limit, context)
}

/// Runs a command of a grader and reads what it says.
pub(crate) fn run(
    prepared: &PreparedCommand,
    input: &Value,
    limit: Duration,
    verdict: VerdictRule,
    directory: &Path,
    context: &Context<'_>,
) -> Graded {
    let argv = argv(&prepared.command, context);
    let cwd = directory_of(prepared, context);
    let mut record = CommandRecord::default();
    (record.argv, record.cwd) = (argv.clone(), cwd.display().to_string());
    let score = match start(&argv, &cwd, input, limit, context) {
        Ok(finished) => {
            record.exit_code = finished.status.code();
            record.signal = finished.signal();
            record.timed_out = finished.timed_out;
            record.stdout = context.keep_output(directory, "stdout.txt", &finished.stdout);
            record.stderr = context.keep_output(directory, "stderr.txt", &finished.stderr);
            if finished.timed_out {
                Score::error(format!("the command did not end within {} s", limit.as_secs_f64()))
            } else {
                reply::read(&finished, verdict)
            }
        }
        Err(message) => Score::error(message),
    };
    Graded { command: Some(record), kind: Some(GraderKind::Command), ..score.into() }
}

fn directory_of(prepared: &PreparedCommand, context: &Context<'_>) -> PathBuf {
    match &prepared.cwd {
        Some(path) => context.places.resolve(path),
        None => context.places.suite_dir.clone(),
    }
}

fn start(
    argv: &[String],
    cwd: &Path,
    input: &Value,
    limit: Duration,
    context: &Context<'_>,
) -> Result<Finished, String> {
    let Some((program, arguments)) = argv.split_first() else {
        return Err("the command is empty".to_owned());
    };
    if !cwd.is_dir() {
        return Err(format!("the working directory {} does not exist", cwd.display()));
    }
    let mut command = std::process::Command::new(program);
    command.args(arguments).current_dir(cwd);
    context.environment.apply(&mut command);
    let input = serde_json::to_vec_pretty(input).map_err(|error| format!("the input cannot be written: {error}"))?;
    process::run(command, input, limit, context.environment.echo)
        .map_err(|error| format!("cannot run `{program}`: {error}"))
}

/// Program and arguments; text for a shell is handed to one.
pub(crate) fn argv(command: &Command, context: &Context<'_>) -> Vec<String> {
    match command {
        Command::Shell(line) if cfg!(windows) => vec!["cmd".to_owned(), "/C".to_owned(), line.clone()],
        Command::Shell(line) => vec!["sh".to_owned(), "-c".to_owned(), line.clone()],
        Command::Argv(arguments) => arguments
            .iter()
            .map(|argument| match argument {
                Argument::Text(text) => text.clone(),
                Argument::Path(path) => text_of(context.places.resolve(path)),
            })
            .collect(),
    }
}

fn text_of(path: PathBuf) -> String {
    path.into_os_string().into_string().unwrap_or_else(|path| path.to_string_lossy().into_owned())
}
