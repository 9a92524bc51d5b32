//! Running git.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::model::command::CommandEnvironment;
use crate::platform::excerpt::last_chars;
use crate::platform::process::Echo;
use crate::platform::{environment, process};

/// Time limit of one command.
const LIMIT: Duration = Duration::from_secs(300);
/// Most characters of git's messages in an error.
const SHOWN: usize = 2_000;

/// Runs git in a directory and returns its trimmed output.
pub(crate) fn git<S: AsRef<OsStr>>(
    directory: &Path,
    arguments: impl IntoIterator<Item = S>,
    echo: Echo,
) -> io::Result<String> {
    git_with_input(directory, arguments, Vec::new(), echo)
}

/// As [`git`], with a standard input.
pub(crate) fn git_with_input<S: AsRef<OsStr>>(
    directory: &Path,
    arguments: impl IntoIterator<Item = S>,
    input: Vec<u8>,
    echo: Echo,
) -> io::Result<String> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(directory);
    CommandEnvironment::default().apply(&mut command);
    isolate(&mut command);
    let words = std::iter::once("git".into()).chain(command.get_args().map(OsStr::to_string_lossy));
    let shown = words.collect::<Vec<_>>().join(" ");
    let finished = process::run(command, input, LIMIT, echo)
        .map_err(|error| io::Error::new(error.kind(), format!("cannot run `{shown}`: {error}")))?;
    if finished.timed_out {
        let message = format!("`{shown}` did not end within {} s", LIMIT.as_secs());
        return Err(io::Error::new(io::ErrorKind::TimedOut, message));
    }
    if finished.status.success() {
        return Ok(finished.stdout.text().trim().to_owned());
    }
    let stderr = finished.stderr.text();
    let message = last_chars(stderr.trim(), SHOWN);
    let ending = match finished.status.code() {
        Some(code) => format!("ended with exit code {code}"),
        None => "was ended by a signal".to_owned(),
    };
    let message = if message.is_empty() { message } else { format!(": {message}") };
    Err(io::Error::other(format!("`{shown}` {ending}{message}")))
}

/// Removes variables that would make git work on the repository of a git hook that runs the tests, and turns off prompts.
fn isolate(command: &mut Command) {
    let of_file = environment::of_file().into_iter().map(|(name, _)| name.into());
    for name in std::env::vars_os().map(|(name, _)| name).chain(of_file) {
        if name.to_string_lossy().starts_with("GIT_") && name != "GIT_SSH_COMMAND" {
            command.env_remove(&name);
        }
    }
    command.env("GIT_TERMINAL_PROMPT", "0");
}
