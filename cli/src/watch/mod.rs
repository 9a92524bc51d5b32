//! `cargo evalsuite watch`: checks what is saved, and runs the cases it concerns.

mod file_watcher;
mod programs;
mod screen;
mod state;
mod suites;
mod test_process;
mod verdicts;

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use clap::{Args, ValueEnum};
use evalsuite_records::run_directory::OutputDirectory;
use evalsuite_schema::diagnostics::render;

use self::file_watcher::FileWatcher;
use self::programs::TestBuild;
use self::screen::Screen;
use self::state::WatchState;
use self::suites::Suites;
use self::verdicts::{Event, Verdict};
use crate::arguments::Build;
use crate::clean::clean;
use crate::locate::{stored_runs, suite_search};
use crate::platform::exit_status::{CliError, CommandStatus, Result};
use crate::run::cargo_commands::evalsuite_feature;

/// On every save, check the suites and run the affected cases
///
/// Builds the tests once, with the feature `reload` of evalsuite, and waits. On every save, checks the suites and runs the affected cases in
/// the existing test programs. Only changes of files that the compiler reads, and of manifests, cause a build. Runs are stored in target/evalsuite/watch. Nothing
/// runs before the first save. Keys on a terminal: `a` runs all cases, `f` runs failed cases again, the arrows select a case, `o` opens it
/// in $VISUAL or $EDITOR, `/` filters, `q` quits. Requires the feature `watch`. Exit status: 0 when it is ended, 2 if it cannot start.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Watch {
    /// Run only cases whose id or test name contains one of these texts
    #[arg(value_name = "FILTER")]
    pub(crate) filters: Vec<String>,
    /// Output format [default: screen on a terminal, else short]
    #[arg(long, value_enum)]
    pub(crate) format: Option<WatchFormat>,
    #[command(flatten)]
    pub(crate) build: Build,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WatchFormat {
    /// A live screen with keys
    Screen,
    /// One line per problem and failed case between the lines `evalsuite: begin` and `evalsuite: end`, for editors
    Short,
}

/// The first and the last line of everything that is printed about one change off a terminal, for the background matchers of editors.
const BEGIN: &str = "evalsuite: begin";
const END: &str = "evalsuite: end";

/// How long no file changes before changes are looked at: one save is several of them.
const QUIET: Duration = Duration::from_millis(20);

/// The output directory of the runs of `watch`, below that of other runs.
const WATCH_OUTPUT: &str = "watch";

/// Number of runs of earlier calls of `watch` that are kept.
const KEPT_RUNS: usize = 20;

/// How often the keyboard is looked at.
const KEYS: Duration = Duration::from_millis(40);

pub(crate) fn run(command: &Watch) -> Result<CommandStatus> {
    let suites = Suites::find()?;
    if suites.is_empty() {
        return Err(suite_search::no_suite_here()?);
    }
    let mut options = command.build.clone();
    options.features.extend(evalsuite_feature(&command.build, "reload")?);
    let output = stored_runs::output_path()?;
    // Not among the other runs: those of single cases are not what `report` and `gate` are asked about.
    let runs = output.join(WATCH_OUTPUT);
    clean(&OutputDirectory::new(&runs), KEPT_RUNS)?;
    let (sender, events) = mpsc::channel();
    #[cfg(unix)]
    forward_end_signals(sender.clone())?;
    let mut files = FileWatcher::start(&suites.directories(), &suites.workspaces(), &output, sender.clone())?;
    let on_screen = match command.format {
        Some(format) => format == WatchFormat::Screen,
        None => io::stdout().is_terminal() && io::stdin().is_terminal(),
    };
    let build = TestBuild::new(options, runs)?;
    let mut state = WatchState::new(suites, build, command.filters.clone(), sender);
    let mut screen = if on_screen { Some(Screen::open()?) } else { None };
    let watched = watch(&mut state, &mut files, &events, screen.as_mut());
    let stopped = state.stop();
    drop(screen);
    watched.and(stopped)?;
    // As the signal would have ended it.
    #[cfg(unix)]
    if let Some(signal) = state.end_signal {
        signal_hook::low_level::emulate_default_handler(signal)?;
    }
    Ok(CommandStatus::Good)
}

fn watch(
    state: &mut WatchState,
    files: &mut FileWatcher,
    events: &Receiver<Event>,
    mut screen: Option<&mut Screen>,
) -> Result<()> {
    let mut is_told = true;
    loop {
        let was_idle = state.is_idle();
        state.start()?;
        match &mut screen {
            Some(screen) => screen.draw(state)?,
            None => {
                if is_told && was_idle && !state.is_idle() {
                    print_begin()?;
                    is_told = false;
                }
                if state.is_idle() && !is_told {
                    print_end(state)?;
                    is_told = true;
                }
            }
        }
        // There is always a sender: that of the state.
        let event = match &mut screen {
            None => events.recv().ok(),
            Some(screen) => match events.recv_timeout(KEYS) {
                Ok(event) => Some(event),
                Err(_) if screen.keys(state)?.is_break() => return Ok(()),
                Err(_) => None,
            },
        };
        let Some(event) = event else { continue };
        let changed = handle(event, events, state)?;
        if state.end_signal.is_some() {
            return Ok(());
        }
        let Some(changed) = changed else { continue };
        let changed = files.sift(changed)?;
        if changed.is_empty() {
            continue;
        }
        // Nothing is printed about other files: one of them may be where the output goes.
        if state.change(&changed)? && screen.is_none() && is_told {
            print_begin()?;
            is_told = false;
        }
    }
}

/// Takes an event into account. Of changes of files, all those that follow at once are returned.
fn handle(event: Event, events: &Receiver<Event>, state: &mut WatchState) -> Result<Option<BTreeSet<PathBuf>>> {
    match event {
        Event::Files(mut files) => {
            while let Ok(next) = events.recv_timeout(QUIET) {
                match next {
                    Event::Files(more) => files.extend(more),
                    other => drop(handle(other, events, state)?),
                }
            }
            return Ok(Some(files));
        }
        Event::WatchError(error) => return Err(CliError::new(error)),
        Event::Built(built) => state.built(built)?,
        Event::Ended(test, verdict) => state.verdicts.end(&test, verdict),
        Event::Failure(test, text) => state.verdicts.fail(&test, text),
        Event::ProgramEnded(index) => state.program_ended(index)?,
        Event::EndSignal(signal) => state.end_signal = Some(signal),
    }
    Ok(None)
}

fn print_begin() -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{BEGIN}")?;
    out.flush()
}

/// Prints a line per problem that there is now, also of suites that did not change: a matcher forgets those of the change before.
fn print_end(state: &WatchState) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let mut problems = state.suites.diagnostics().ungrouped();
    problems.sort();
    for problem in &problems {
        writeln!(out, "{}", render::one_line(problem))?;
    }
    for problem in &state.build_problems.lines {
        writeln!(out, "{problem}")?;
    }
    for (test, result) in state.verdicts.shown() {
        if result.verdict == Verdict::Failed {
            let place = state.suites.place(&result.case).map(|(location, _)| location);
            let (file, line, column) = place
                .map_or(("Cargo.toml", 1, 1), |place| (place.file.as_str(), place.line.max(1), place.column.max(1)));
            let reason = result.text.lines().find(|line| !line.trim().is_empty()).unwrap_or("failed");
            writeln!(out, "{file}:{line}:{column}: error[failed]: {test}: {reason}")?;
        }
    }
    writeln!(out, "evalsuite: {}", state.summary())?;
    writeln!(out, "{END}")?;
    out.flush()
}

/// Sends the signals that ask `watch` to end as events: it ends with the compilers and tests that it has started.
#[cfg(unix)]
fn forward_end_signals(events: mpsc::Sender<Event>) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            // The receiver is gone when the program ends.
            let _ = events.send(Event::EndSignal(signal));
        }
    });
    Ok(())
}
