//! `cargo evalsuite watch`: checks what is saved, and runs the cases it concerns.

mod changes;
mod end_signals;
mod event;
mod output;
mod programs;
mod screen;
mod state;
mod suites;
mod test_process;
mod verdicts;

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use evalsuite_records::run_directory::OutputDirectory;

use self::changes::FileWatcher;
use self::event::Event;
use self::programs::TestBuild;
use self::screen::Screen;
use self::state::State;
use self::suites::Suites;
use crate::command_line::{Watch, WatchFormat};
use crate::keeping::clean::clean;
use crate::locate::{stored_runs, suite_request};
use crate::platform::cli_error::{CliError, Exit, Result};
use crate::running::run::tested_packages::evalsuite_feature;

/// How long no file changes before changes are looked at: one save is several of them.
const QUIET: Duration = Duration::from_millis(20);

/// The output directory of the runs of `watch`, below that of other runs.
const WATCH_OUTPUT: &str = "watch";

/// Number of runs of earlier calls of `watch` that are kept.
const KEPT_RUNS: usize = 20;

/// How often the keyboard is looked at.
const KEYS: Duration = Duration::from_millis(40);

pub(crate) fn run(command: &Watch) -> Result<Exit> {
    let suites = Suites::find()?;
    if suites.is_empty() {
        return Err(suite_request::no_suite_here()?);
    }
    let mut options = command.build.clone();
    options.features.extend(evalsuite_feature(&command.build, "reload")?);
    let output = stored_runs::output_path()?;
    // Not among the other runs: those of single cases are not what `report` and `gate` are asked about.
    let runs = output.join(WATCH_OUTPUT);
    clean(&OutputDirectory::new(&runs), KEPT_RUNS)?;
    let (sender, events) = mpsc::channel();
    end_signals::forward(sender.clone())?;
    let mut files = FileWatcher::start(&suites.directories(), &output, sender.clone())?;
    let on_screen = match command.format {
        Some(format) => format == WatchFormat::Screen,
        None => io::stdout().is_terminal() && io::stdin().is_terminal(),
    };
    let build = TestBuild::new(options, runs)?;
    let mut state = State::new(suites, build, command.filters.clone(), sender);
    let mut screen = if on_screen { Some(Screen::open()?) } else { None };
    let watched = watch(&mut state, &mut files, &events, screen.as_mut());
    let stopped = state.stop();
    drop(screen);
    watched.and(stopped)?;
    if let Some(signal) = state.end_signal {
        end_signals::end_by(signal)?;
    }
    Ok(Exit::Good)
}

fn watch(
    state: &mut State,
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
                    output::begin()?;
                    is_told = false;
                }
                if state.is_idle() && !is_told {
                    output::end(state)?;
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
        if screen.is_none() && is_told {
            output::begin()?;
            is_told = false;
        }
        state.change(&changed)?;
    }
}

/// Takes an event into account. Of changes of files, all those that follow at once are returned.
fn handle(event: Event, events: &Receiver<Event>, state: &mut State) -> Result<Option<BTreeSet<PathBuf>>> {
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
