//! Calls of git.

use std::{ffi::OsStr, path::Path, process::Command, time::Duration};

use crate::{
    model::command::CommandEnvironment,
    platform::{
        environment,
        excerpt::last_chars,
        process::{self, echo::Echo},
    },
};

/// Limit of one command.
const LIMIT: Duration = Duration::from_secs(300);
/// Characters of git's messages that are shown.
const SHOWN: usize = 2_000;

/// Runs git in a directory and gives what it prints, trimmed.
///
/// # Errors
///
/// The command, and what git said.
pub(crate) fn git<S: AsRef<OsStr>>(
    directory: &Path,
    arguments: impl IntoIterator<Item = S>,
    echo: Echo,
) -> Result<String, String> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(directory);
    CommandEnvironment::default().apply(&mut command);
    isolate(&mut command);
    let shown = shown(&command);
    let finished =
        process::run(command, Vec::new(), LIMIT, echo).map_err(|error| format!("cannot run `{shown}`: {error}"))?;
    if finished.timed_out {
        return Err(format!("`{shown}` did not end within {} s", LIMIT.as_secs()));
    }
    if finished.status.success() {
        return Ok(finished.stdout.text().trim().to_owned());
    }
    let said = finished.stderr.text();
    let said = last_chars(said.trim(), SHOWN);
    let ending = match finished.status.code() {
        Some(code) => format!("ended with exit code {code}"),
        None => "was ended by a signal".to_owned(),
    };
    Err(if said.is_empty() { format!("`{shown}` {ending}") } else { format!("`{shown}` {ending}: {said}") })
}

/// A repository around the test (a git hook that runs `cargo test`) must not become the one that is worked on, and
/// nobody is there to answer a question.
fn isolate(command: &mut Command) {
    let of_file = environment::of_file().map(|(name, _)| name.into());
    for name in std::env::vars_os().map(|(name, _)| name).chain(of_file) {
        if name.to_string_lossy().starts_with("GIT_") && name != "GIT_SSH_COMMAND" {
            command.env_remove(&name);
        }
    }
    command.env("GIT_TERMINAL_PROMPT", "0");
}

fn shown(command: &Command) -> String {
    let arguments = command.get_args().map(OsStr::to_string_lossy);
    let words: Vec<_> = std::iter::once("git".into()).chain(arguments).collect();
    words.join(" ")
}
