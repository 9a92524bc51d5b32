//! Runs the tests and shows their progress: live on a terminal, else as lines.

mod child_output;
mod progress_file;
mod run_state;

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{env, io, thread};

use evalsuite::ProgressEvent;
use evalsuite::tooling::LongCases;
use indicatif::{ProgressBar, ProgressStyle};

use self::child_output::ChildOutput;
use self::progress_file::ProgressFile;
use self::run_state::RunState;
pub(super) use self::run_state::TestKey;
use crate::arguments::OutputFormat;
use crate::platform::cli_error::{ErrorContext, Result};
use crate::platform::output::say;
use crate::platform::progress::is_live;
use crate::run::cargo_commands::Colors;

/// Time between two looks at the progress.
const INTERVAL: Duration = Duration::from_millis(100);

/// Where the test runner has to use colors although its output is a pipe.
pub(super) fn colors() -> Colors {
    let has_colors = is_live() && env::var_os("NO_COLOR").is_none_or(|no_color| no_color.is_empty());
    Colors { stdout: has_colors && io::stdout().is_terminal(), stderr: has_colors }
}

/// Runs the command of a test runner to its end. `tests` are those of the chosen cases. Where standard output is for JSON, the output of the
/// tests goes to standard error.
pub(super) fn run(mut command: Command, tests: BTreeSet<TestKey>, format: OutputFormat) -> Result<ExitStatus> {
    let directory = tempfile::tempdir()?;
    // A file that the user has named gets the lines, too.
    let path = env::var_os("EVALSUITE_PROGRESS").filter(|path| !path.is_empty());
    let path = path.map_or_else(|| Ok(directory.path().join("progress.jsonl")), std::path::absolute)?;
    command.env("EVALSUITE_PROGRESS", &path);
    let file = ProgressFile::after(&path)?;
    let state = RunState::new(tests);
    if format == OutputFormat::Json {
        command.stdout(io::stderr());
        return run_with_lines(command, file, state);
    }
    if is_live() { run_live(command, file, state) } else { run_with_lines(command, file, state) }
}

/// The output of the tests goes where that of this program goes.
fn run_with_lines(mut command: Command, mut file: ProgressFile, mut state: RunState) -> Result<ExitStatus> {
    let mut child = command.spawn().of(&command)?;
    let (start, mut long) = (Instant::now(), LongCases::default());
    let mut show = |events: Vec<ProgressEvent>| {
        for event in events {
            let line = long.line(&event, start.elapsed());
            if let Some(line) = state.add(&event).or(line) {
                say!("evalsuite: {line}");
            }
        }
    };
    loop {
        let ended = child.try_wait()?;
        show(file.read());
        match ended {
            Some(status) => return Ok(status),
            None => thread::sleep(INTERVAL),
        }
    }
}

/// The output of the tests is shown above the progress.
fn run_live(mut command: Command, mut file: ProgressFile, mut state: RunState) -> Result<ExitStatus> {
    let bar = ProgressBar::new_spinner().with_style(ProgressStyle::with_template("{msg}")?);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().of(&command)?;
    let output = ChildOutput::of(&mut child);
    let shown = loop {
        let ended = child.try_wait()?;
        let shown = show_output(&output, &bar, ended.is_some());
        for event in file.read() {
            state.add(&event);
        }
        if shown.is_err() || ended.is_some() {
            break shown;
        }
        bar.set_message(state.to_string());
    };
    bar.finish_and_clear();
    // If the output cannot be shown, the test runner cannot write it any more.
    drop(output);
    let status = child.wait()?;
    shown.map(|()| status)
}

/// Shows output for about as long as the interval, or all of it.
fn show_output(output: &ChildOutput, bar: &ProgressBar, all: bool) -> Result<()> {
    let start = Instant::now();
    while let Some(line) = output.next_within(INTERVAL) {
        bar.suspend(|| line.write())?;
        if !all && start.elapsed() >= INTERVAL {
            break;
        }
    }
    Ok(())
}
