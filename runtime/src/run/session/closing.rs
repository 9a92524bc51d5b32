//! The end of a session: hooks after all tests, and what is removed.

use std::{collections::BTreeSet, fs, io};

use evalsuite_schema::record::HookState;

use crate::{
    model::suite::EvalSuite,
    platform::{file_lock::FileLock, process::echo::Echo, redaction::Redactor},
    run::{
        hooks::Scope,
        session::{Session, State, libtest::Chosen},
        settings::Settings,
    },
    workspace,
};

/// Who ends a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Closing {
    /// The last of these tests, named as test runners do; where other inclusions of the suite take part, the last of all.
    LastOf(BTreeSet<String>),
    /// Whoever began it, or `cargo evalsuite finish`.
    Later,
}

impl Closing {
    /// Who ends the session of tests that a test runner started.
    pub(crate) fn of(suite: &EvalSuite, settings: &Settings) -> Self {
        // More tests of a run may come that has its name from outside.
        if settings.run_id.is_some() {
            return Self::Later;
        }
        let all = suite.cases.iter().map(|case| suite.test_path(case));
        // Nextest starts a process per test and does not tell which others it will start.
        if std::env::var_os("NEXTEST").is_some() || settings.runner.run_id.is_some() {
            return Self::LastOf(all.collect());
        }
        let chosen = Chosen::of_process();
        Self::LastOf(all.filter(|test| chosen.contains(test)).collect())
    }

    pub(crate) fn is_complete(&self, finished: &BTreeSet<String>) -> bool {
        match self {
            Self::LastOf(tests) => tests.is_subset(finished),
            Self::Later => false,
        }
    }
}

/// How the end of a session went.
#[derive(Debug, Default)]
pub(crate) struct Closed {
    /// Hooks that ran.
    pub(crate) hooks: u32,
    /// What went wrong.
    pub(crate) problems: Vec<String>,
}

impl Session {
    /// Runs the hooks after all tests that are still owed, and removes what was made once. Nothing happens to a session
    /// that was ended before.
    ///
    /// # Errors
    ///
    /// If its state cannot be read or written.
    pub(crate) fn close(&self, echo: Echo) -> io::Result<Closed> {
        let _lock = self.lock()?;
        self.close_locked(echo)
    }

    pub(crate) fn close_locked(&self, echo: Echo) -> io::Result<Closed> {
        let mut closed = Closed::default();
        let Some(mut state) = State::read(&self.file())?.filter(|state| state.open) else { return Ok(closed) };
        let Some(_alone) = FileLock::try_acquire(&self.in_use())? else {
            closed.problems.push(format!("tests of suite `{}` are still running", self.suite));
            return Ok(closed);
        };
        // Hooks of targets lie inside of the suite's.
        state.owed.sort_by_key(|call| call.scope != Scope::Target);
        for call in std::mem::take(&mut state.owed) {
            let (_, result) = call.resolve_and_run(&Redactor::default(), echo);
            closed.hooks += 1;
            state.after_all = match &result {
                Ok(()) if state.after_all != HookState::Failed => HookState::Done,
                _ => HookState::Failed,
            };
            if let Err(trouble) = result {
                closed.problems.push(format!("suite `{}`: {}", self.suite, trouble.message));
            }
        }
        state.end();
        self.write(&state)?;
        if !state.keep {
            let base = self.base();
            if let Err(error) = workspace::remove_directory(&base) {
                closed.problems.push(format!("{} cannot be removed: {error}", base.display()));
            }
            if let Some(directory) = base.parent() {
                // Other sessions of the suite may still have something in it.
                let _ = fs::remove_dir(directory);
            }
        }
        Ok(closed)
    }
}
