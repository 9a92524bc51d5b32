//! The cases of a suite that one process or nextest run executes together, with the hooks around all of them.
//!
//! Directories that are created once per run are in `base/` of the suite's directory. Hooks that have to run at the end
//! are written to `session.json` before their counterparts run, so that `cargo evalsuite finish` can end a session that
//! no test has ended. A suite can be included several times, in one test program or in several. All inclusions share
//! one session, because its directories depend only on the suite's files.

pub(crate) mod session_test;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite_records::record::{HookState, Reason};
use evalsuite_schema::json::{FromJsonOverDefault, ToJson, Value};
use evalsuite_schema::{Isolation, Suite, Workspace};

use crate::model::suite::EvalSuite;
use crate::platform::digest::safe;
use crate::platform::file_lock::FileLock;
use crate::platform::files::{read_json, write_json};
use crate::platform::process::Echo;
use crate::platform::redaction::Redactor;
use crate::record::run_directory::RunDirectory;
use crate::record::run_record;
use crate::run::settings::Settings;
use crate::workspace;

pub(crate) use self::session_test::SessionTest;

/// The session of a suite in a run.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) run: RunDirectory,
    /// Name of the suite.
    name: String,
    /// Name of its directory in the run.
    suite: String,
    /// Suffix of a stress run; empty without one.
    label: String,
}

/// A session in use. It cannot end before this is dropped.
#[derive(Debug)]
pub(crate) struct EnteredSession {
    /// Number of times the session was begun, from 1. Bases are made and hooks run once in each of them.
    pub(crate) epoch: u32,
    _in_use: FileLock,
}

/// `session.json`: the state of a session between its tests.
#[derive(Debug, Clone, Default, ToJson, FromJsonOverDefault)]
struct SessionState {
    /// `evalsuite.session/1`.
    schema: String,
    suite: String,
    label: String,
    /// Number of times it was begun.
    epoch: u32,
    /// Number of times it was ended.
    #[json(default)]
    ended: u32,
    /// The inclusions with tests in it since it was last ended, and whether all of their tests are done.
    #[json(default)]
    inclusions: BTreeMap<String, bool>,
    /// Whether there is something to undo.
    open: bool,
    /// Whether a shared workspace stays.
    keep: bool,
    before_all: HookState,
    after_all: HookState,
    /// Hooks to run at the end. Their variables are not filled in, so that no secret is written.
    #[json(rename = "owed")]
    pending: Vec<Value>,
}

impl Session {
    /// Whether a suite has something to undo at the end of the run.
    pub(crate) fn is_needed(suite: &Suite) -> bool {
        let around_all = |hooks: &evalsuite_schema::Hooks| hooks.before_all.is_some() || hooks.after_all.is_some();
        let of_workspace = |workspace: &Workspace| {
            around_all(&workspace.hooks) || !workspace.repos.is_empty() || workspace.isolation == Isolation::Shared
        };
        suite.workspace.as_ref().is_some_and(of_workspace)
            || suite.targets.iter().any(|target| around_all(&target.hooks))
    }

    /// The session of a suite's tests.
    pub(crate) fn of(suite: &EvalSuite, settings: &Settings, run: &RunDirectory) -> Self {
        let stress = settings.runner.stress.as_ref();
        let label = stress.map(|index| format!(".stress-{}", safe(index))).unwrap_or_default();
        Self { run: run.clone(), name: suite.name.to_owned(), suite: suite.key(), label }
    }

    /// Name in lock files.
    pub(crate) fn key(&self) -> String {
        format!("{}{}", self.suite, self.label)
    }

    fn suite_directory(&self) -> PathBuf {
        self.run.suite(&self.suite)
    }

    /// Directory of what is made once.
    pub(crate) fn base(&self) -> PathBuf {
        self.suite_directory().join("base").join(format!("suite{}", self.label))
    }

    /// File for the output of a hook.
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

    /// Enters the session; one that was ended begins again.
    pub(crate) fn enter(&self, keep: bool) -> io::Result<EnteredSession> {
        let _lock = self.lock()?;
        let mut state = self.state()?;
        if !state.open {
            (state.epoch, state.open, state.keep) = (state.epoch + 1, true, keep);
            (state.before_all, state.after_all) = (HookState::None, HookState::None);
            state.pending.clear();
            self.store(&state)?;
        }
        // The lock on the session is held: a test that ends it waits, and finds it in use.
        Ok(EnteredSession { epoch: state.epoch, _in_use: FileLock::share(&self.in_use())? })
    }

    /// Records, before a hook before all tests runs, the hook that undoes it. It is already there if a process died while the hook before
    /// all tests ran.
    pub(crate) fn note_pending(&self, hook: Value, is_same: impl Fn(&Value) -> bool) -> io::Result<()> {
        self.change(|state| {
            if !state.pending.iter().any(is_same) {
                state.pending.push(hook);
            }
            state.after_all = HookState::Pending;
        })
    }

    /// Records how a hook before all tests ended.
    pub(crate) fn before_all_ended(&self, well: bool) -> io::Result<()> {
        self.change(|state| state.before_all = after_hook(state.before_all, well))
    }

    fn state(&self) -> io::Result<SessionState> {
        Ok(read_json(&self.file())?.unwrap_or_else(|| SessionState {
            schema: "evalsuite.session/1".to_owned(),
            suite: self.name.clone(),
            label: self.label.clone(),
            ..SessionState::default()
        }))
    }

    fn store(&self, state: &SessionState) -> io::Result<()> {
        write_json(&self.file(), state, &Redactor::default())
    }

    fn change(&self, change: impl FnOnce(&mut SessionState)) -> io::Result<()> {
        let _lock = self.lock()?;
        let mut state = self.state()?;
        change(&mut state);
        self.write(&state)
    }

    /// Writes the state, and the state of the hooks to `run.json`.
    fn write(&self, state: &SessionState) -> io::Result<()> {
        self.store(state)?;
        let updated = run_record::update(&self.run, &self.suite, &Redactor::default(), |entry| {
            entry.before_all = state.before_all;
            entry.after_all = state.after_all;
        });
        match updated {
            // A run whose `run.json` was deleted can still be finished.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        }
    }
}

/// The state of the hooks before or after all tests once another of them has ended.
fn after_hook(state: HookState, well: bool) -> HookState {
    if well && state != HookState::Failed { HookState::Done } else { HookState::Failed }
}

#[cfg(feature = "tooling")]
impl Session {
    /// All sessions of a run, also of processes that have ended, and why others cannot be read.
    pub(crate) fn all(run: &RunDirectory) -> io::Result<(Vec<Self>, Vec<String>)> {
        let (mut sessions, mut problems) = (Vec::new(), Vec::new());
        for suite in crate::platform::files::sorted_directories(&run.suites())? {
            for file in evalsuite_records::file_replacement::sorted_entries(&suite)? {
                let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if !(name.starts_with("session") && name.ends_with(".json")) {
                    continue;
                }
                match read_json::<SessionState>(&file) {
                    Ok(Some(state)) => {
                        let suite = suite.file_name().unwrap_or_default().to_string_lossy().into_owned();
                        sessions.push(Self { run: run.clone(), name: state.suite, suite, label: state.label });
                    }
                    Ok(None) => {}
                    Err(error) => problems.push(error.to_string()),
                }
            }
        }
        Ok((sessions, problems))
    }
}

/// What happened at the end of a session.
#[derive(Debug, Default)]
pub(crate) struct EndedSession {
    /// Number of hooks that ran.
    pub(crate) hooks: u32,
    /// Whether hooks are left to run, because further tests may follow.
    pub(crate) is_pending: bool,
    /// Errors of hooks and files.
    pub(crate) problems: Vec<String>,
}

impl Session {
    /// Ends the session of a suite that no test runner runs; returns the problems.
    pub(crate) fn end_of(suite: &EvalSuite, settings: &Settings, run: &RunDirectory) -> Vec<String> {
        // Every case has reported a suite that cannot be decoded.
        if !suite.data().is_ok_and(|data| Self::is_needed(&data)) {
            return Vec::new();
        }
        match Self::of(suite, settings, run).end(settings.echo) {
            Ok(ended) => ended.problems,
            Err(error) => vec![format!("suite `{}` cannot be ended: {error}", suite.name)],
        }
    }

    /// Runs the pending hooks after all tests and removes the bases. Does nothing if the session has ended before.
    pub(crate) fn end(&self, echo: Echo) -> io::Result<EndedSession> {
        let _lock = self.lock()?;
        self.end_locked(echo)
    }

    pub(crate) fn end_locked(&self, echo: Echo) -> io::Result<EndedSession> {
        let mut ended = EndedSession::default();
        let mut state = self.state()?;
        if !state.open {
            return Ok(ended);
        }
        let Some(_unused) = FileLock::try_acquire(&self.in_use())? else {
            ended.problems.push(format!("tests of suite `{}` are still running", self.name));
            return Ok(ended);
        };
        let mut hooks: Vec<Result<(), Reason>> = Vec::new();
        crate::run::hooks::run_pending(&mut hooks, &mut state.pending, echo);
        for result in hooks {
            ended.hooks += 1;
            state.after_all = after_hook(state.after_all, result.is_ok());
            ended.problems.extend(result.err().map(|failure| format!("suite `{}`: {}", self.name, failure.message)));
        }
        // The next test begins it again.
        (state.open, state.ended) = (false, state.ended + 1);
        state.inclusions.clear();
        self.write(&state)?;
        if !state.keep {
            ended.problems.extend(remove_base(&self.base()));
        }
        Ok(ended)
    }
}

/// Removes a base, and the directory around it unless other bases are in it. Returns the problem.
pub(crate) fn remove_base(base: &Path) -> Option<String> {
    let removed = workspace::remove_directory(base);
    if let Some(bases) = base.parent() {
        // It fails where other bases remain.
        let _ = fs::remove_dir(bases);
    }
    removed.err().map(|error| format!("{} cannot be removed: {error}", base.display()))
}
