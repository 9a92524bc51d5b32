//! A suite in a run, from the first of its tests that needs something made once to the hooks after the last one.
//!
//! What is made once per run lies in `base/` of the suite's directory; what has to be undone is written to
//! `session.json` before it is done, so that `cargo evalsuite finish` can end what no test has ended. A suite can be
//! included several times, in one test program and in several: all of them take part in one session, for what it makes
//! depends on the suite's files alone.

pub(crate) mod closing;
pub(crate) mod libtest;
pub(crate) mod state;
pub(crate) mod test;

use std::{fs, io, path::PathBuf};

use evalsuite_schema::{Isolation, Suite, Workspace, record::HookState};

use crate::{
    model::{suite::EvalSuite, suite_location::SuiteLocation},
    platform::{
        digest::{file_key, safe, sha256},
        file_lock::FileLock,
        files::{replace_file, sorted_entries},
        redaction::Redactor,
    },
    record::{run_directory::RunDirectory, run_record},
    run::{hooks::HookCall, settings::Settings},
};

pub(crate) use crate::run::session::{
    closing::{Closed, Closing},
    state::State,
    test::SessionTest,
};

/// A suite in a run.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) run: RunDirectory,
    /// Name of the suite.
    suite: String,
    /// What tells this suite from others of its name; empty for the first one.
    label: String,
}

/// The right to use what was made once: nobody takes it away before this is dropped.
#[derive(Debug)]
pub(crate) struct Entered {
    /// How often the session was begun anew, from 1: bases and results of hooks are made once in each of them.
    pub(crate) epoch: u32,
    _in_use: FileLock,
}

impl Session {
    /// Whether something of the suite has to be undone at the end of the run.
    pub(crate) fn is_needed(suite: &Suite) -> bool {
        let around_all = |hooks: &evalsuite_schema::Hooks| hooks.before_all.is_some() || hooks.after_all.is_some();
        let of_workspace = |workspace: &Workspace| {
            around_all(&workspace.hooks) || !workspace.repos.is_empty() || workspace.isolation == Isolation::Shared
        };
        suite.workspace.as_ref().is_some_and(of_workspace)
            || suite.targets.iter().any(|target| around_all(&target.hooks))
    }

    /// The session of a suite's tests. Packages of a workspace may have suites of the same name.
    ///
    /// # Errors
    ///
    /// If it cannot be noted whose session it is.
    pub(crate) fn of(suite: &EvalSuite, settings: &Settings, run: &RunDirectory) -> io::Result<Self> {
        let directory = SuiteLocation::of(suite).suite_dir;
        let owner = &sha256(directory.to_string_lossy().as_bytes())[..8];
        let claim = run.locks().join(format!("session-{}.owner", file_key(suite.name)));
        // Tests of one suite come at the same time, and all of them have to find its name.
        let _lock = FileLock::acquire(&run.locks().join(format!("session-{}.owner.lock", file_key(suite.name))))?;
        let is_first = match fs::read(&claim) {
            Ok(first) => first == owner.as_bytes(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                replace_file(&claim, owner.as_bytes())?;
                true
            }
            Err(error) => return Err(error),
        };
        let mut label = if is_first { String::new() } else { format!(".suite-{owner}") };
        if let Some(index) = &settings.runner.stress {
            label.push_str(&format!(".stress-{}", safe(index)));
        }
        Ok(Self { run: run.clone(), suite: suite.name.to_owned(), label })
    }

    /// Ends the session of a suite that is not run by a test runner; gives what went wrong.
    pub(crate) fn close_of(suite: &EvalSuite, settings: &Settings, run: &RunDirectory) -> Vec<String> {
        // What cannot be decoded was reported by every case.
        if !suite.decode().is_ok_and(|data| Self::is_needed(&data)) {
            return Vec::new();
        }
        match Self::of(suite, settings, run).and_then(|session| session.close(settings.echo)) {
            Ok(closed) => closed.problems,
            Err(error) => vec![format!("suite `{}` cannot be ended: {error}", suite.name)],
        }
    }

    /// Name in lock files.
    pub(crate) fn key(&self) -> String {
        format!("{}{}", file_key(&self.suite), self.label)
    }

    fn suite_directory(&self) -> PathBuf {
        self.run.suite(&self.suite)
    }

    /// Directory of everything that is made once.
    pub(crate) fn base(&self) -> PathBuf {
        self.suite_directory().join("base").join(format!("suite{}", self.label))
    }

    /// File for what a hook prints.
    pub(crate) fn log(&self, hook: &str) -> PathBuf {
        self.suite_directory().join("hooks").join(format!("{hook}{}.log", self.label))
    }

    fn file(&self) -> PathBuf {
        self.suite_directory().join(format!("session{}.json", self.label))
    }

    fn lock(&self) -> io::Result<FileLock> {
        FileLock::acquire(&self.run.locks().join(format!("session-{}.lock", self.key())))
    }

    fn in_use(&self) -> PathBuf {
        self.run.locks().join(format!("base-{}.use", self.key()))
    }

    /// Takes part in the session; where it was ended already, a new one begins.
    ///
    /// # Errors
    ///
    /// If its state cannot be read or written.
    pub(crate) fn enter(&self, keep: bool) -> io::Result<Entered> {
        let _lock = self.lock()?;
        let mut state = State::read(&self.file())?.unwrap_or_else(|| State::new(&self.suite, &self.label));
        if !state.open {
            state.begin(keep);
            state.write(&self.file())?;
        }
        // The lock on the session is held: whoever ends it waits, and sees that it is in use.
        Ok(Entered { epoch: state.epoch, _in_use: FileLock::share(&self.in_use())? })
    }

    /// Notes that hooks before all tests are about to run, and the one that undoes what they do.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(crate) fn attempt(&self, after_all: Option<HookCall>) -> io::Result<()> {
        let Some(after_all) = after_all else { return Ok(()) };
        self.change(|state| state.owe(after_all))
    }

    /// Notes how a hook before all tests ended.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(crate) fn before_all_ended(&self, well: bool) -> io::Result<()> {
        self.change(|state| {
            state.before_all =
                if well && state.before_all != HookState::Failed { HookState::Done } else { HookState::Failed }
        })
    }

    fn change(&self, change: impl FnOnce(&mut State)) -> io::Result<()> {
        let _lock = self.lock()?;
        let mut state = State::read(&self.file())?.unwrap_or_else(|| State::new(&self.suite, &self.label));
        change(&mut state);
        self.write(&state)
    }

    /// `run.json` says the same for those who do not know sessions.
    fn write(&self, state: &State) -> io::Result<()> {
        state.write(&self.file())?;
        let told = run_record::update(&self.run, &self.suite, &Redactor::default(), |entry| {
            entry.before_all = state.before_all;
            entry.after_all = state.after_all;
        });
        match told {
            // Only tests write it; a run of which it was deleted can be finished all the same.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        }
    }

    /// All sessions of a run, also of programs that are gone.
    ///
    /// # Errors
    ///
    /// If a file cannot be read.
    pub(crate) fn all(run: &RunDirectory) -> io::Result<Vec<Self>> {
        let mut sessions = Vec::new();
        for suite in sorted_entries(&run.path().join("suites"))? {
            for file in sorted_entries(&suite)? {
                let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if name.starts_with("session")
                    && name.ends_with(".json")
                    && let Some(state) = State::read(&file)?
                {
                    sessions.push(Self { run: run.clone(), suite: state.suite, label: state.label });
                }
            }
        }
        Ok(sessions)
    }
}
